// Estimates from the cells of a filter: number of keys, fill and false-positive rate.
#pragma once

#include <cstdint>

#include "core/filter/filter.h"
#include "core/layout/shape.h"

namespace bloom {

struct Estimate {
  double fill = 0;              // share of cells that are not 0
  double keys = 0;              // number of distinct keys, estimated from the fill of each block
  double fpr = 0;               // expected FPR with the present fill
  std::uint64_t saturated = 0;  // counting filters: saturated counters
};

// Returns the most likely number of keys n, if `used` of `cells` cells are not 0 and each key sets
// k cells. n solves used = cells (1 - (1 - 1/cells)^(k n)) (S. Swamidass, P. Baldi,
// doi:10.1021/ci600526a). If all cells are used, the formula has no solution; half a cell then
// counts as free.
double keys_for(double used, double cells, double k);

// Returns the estimates for a filter. Reads every cell once. Throws what `check_interrupt` throws.
//   keys: the sum over blocks of keys_for()
//   fpr:  the mean over blocks of fill^k, or of the product of the fills of the slices
Estimate estimate(const FilterView& filter, const InterruptCheck& check_interrupt = {});

// The same for cells that are given piece by piece, in ascending order. Cells that are not given
// count as 0.
class Estimator {
 public:
  explicit Estimator(const Shape& shape);

  // Adds the cells first..first+count-1 of the filter, which are cells 0..count-1 of `cells`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* cells);
  Estimate finish();

 private:
  void end_region();
  void end_block();

  Shape shape_;
  std::uint64_t regions_;  // per block: number of slices, or 1
  std::uint64_t region_ = 0;
  std::uint64_t block_ = 0;
  std::uint64_t used_in_region_ = 0;
  std::uint64_t used_in_block_ = 0;
  std::uint64_t used_ = 0;
  double rate_of_block_ = 1;
  std::uint64_t regions_of_block_ = 0;  // non-empty regions of the current block
  Estimate result_;
};

// Returns whether `keys`, an estimate, exceeds the capacity in the header by more than three
// standard errors of the estimate. Returns false if the capacity is unknown.
bool overfull(const Header& header, double keys);

}  // namespace bloom
