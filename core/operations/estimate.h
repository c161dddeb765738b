// Estimates from the cells of a filter: number of keys, fill and false-positive rate.
#pragma once

#include <cstdint>

#include "core/filter/filter.h"
#include "core/layout/shape.h"
#include "core/operations/estimate_result.h"

namespace bloom {

// Returns the most likely number of keys n, if `nonzero` of `cells` cells are not 0 and each key
// sets k cells. n solves nonzero = cells (1 - (1 - 1/cells)^(k n)) (S. Swamidass, P. Baldi,
// doi:10.1021/ci600526a). If no cell is 0, the formula has no solution; n is then computed as
// if half of one cell were 0.
double estimate_keys(double nonzero, double cells, double k);

// Returns the estimates for a filter. Reads every cell once. Throws what `check_interrupt` throws.
//   keys: the sum over blocks of estimate_keys()
//   fpr:  the mean over blocks of fill^k, or of the product of the fills of the slices. Plus
//         double_hashing_excess() in an unblocked filter
Estimate estimate(const FilterView& filter, const InterruptCheck& check_interrupt = {});

// The same for cells that are given piece by piece, in ascending order. Cells that are not given
// count as 0.
class Estimator {
 public:
  explicit Estimator(const Shape& shape);

  // Adds the cells first..first+count-1 of the filter, which are cells 0..count-1 of `cells`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* cells);
  // Returns the estimates. Call once, after the last add().
  Estimate finish();

 private:
  // A probe range is a block, or a slice of a block if partitioned: see Shape::probe_range().
  void end_range();
  void end_block();

  Shape shape_;
  std::uint64_t ranges_per_block_;
  std::uint64_t range_ = 0;  // the current probe range, and the block that contains it
  std::uint64_t block_ = 0;
  std::uint64_t nonzero_in_range_ = 0;
  std::uint64_t nonzero_in_block_ = 0;
  std::uint64_t nonzero_ = 0;
  double block_fpr_ = 1;  // of the current block, from its probe ranges so far
  double keys_in_full_blocks_ = 0;
  std::uint64_t filled_ranges_ = 0;  // probe ranges of the current block that are not empty
  Estimate result_;
};

}  // namespace bloom
