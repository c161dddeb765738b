// What the cells of a filter tell about its keys. Reads every cell once.
#pragma once

#include <cstdint>

#include "core/filter/filter.h"
#include "core/layout/shape.h"

namespace bloom {

struct Estimate {
  double fill = 0;              // share of cells that are not 0
  double keys = 0;              // distinct keys, from the fill of each block
  double fpr = 0;               // the rate to expect now
  std::uint64_t saturated = 0;  // counting: counters that have lost count
};

// The keys that most likely leave so many of `cells` cells in use, where each takes k of them: the
// n with used = cells (1 - (1 - 1/cells)^(k n)) (S. Swamidass, P. Baldi, doi:10.1021/ci600526a).
// With no cell left, as if it were half a cell.
double keys_for(double used, double cells, double k);

// keys: the sum over blocks of keys_for() them.
// fpr: the mean over blocks of fill^k, or of the product of its slices' fills.
Estimate estimate(const FilterView& filter, const InterruptCheck& check_interrupt = {});

// The same for cells that come piece by piece, in order. Cells that do not come are 0.
class Estimator {
 public:
  explicit Estimator(const Shape& shape);

  // Cells first..first+count-1 of the filter are cells 0..count-1 of `cells`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* cells);
  Estimate finish();

 private:
  void end_region();
  void end_block();

  Shape shape_;
  std::uint64_t regions_;  // of a block: its slices, or 1
  std::uint64_t region_ = 0;
  std::uint64_t block_ = 0;
  std::uint64_t used_in_region_ = 0;
  std::uint64_t used_in_block_ = 0;
  std::uint64_t used_ = 0;
  double rate_of_block_ = 1;
  std::uint64_t regions_of_block_ = 0;  // that are not empty
  Estimate result_;
};

// Whether so many keys are more than the filter was sized for, beyond what the spread of the
// estimate explains (three standard errors).
bool overfull(const Header& header, double keys);

}  // namespace bloom
