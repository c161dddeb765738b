#include "core/operations/estimate.h"

#include <algorithm>
#include <cmath>

#include "core/layout/cells.h"
#include "core/layout/shape.h"
#include "core/sizing/prediction.h"

namespace bloom {

double estimate_keys(double nonzero, double cells, double k) {
  if (nonzero == 0) {
    return 0;
  }
  const double empty = std::max(cells - nonzero, 0.5);
  // A filter of one cell can only tell that there is at least one key.
  return cells == 1 ? 1 : std::log(empty / cells) / (k * std::log1p(-1 / cells));
}

Estimate estimate(const FilterView& filter, const InterruptCheck& check_interrupt) {
  const Shape& shape = filter.shape();
  Estimator estimator(shape);
  for_each_piece(shape.cells, kPieceBits, check_interrupt, [&](auto first, auto count) {
    estimator.add(first, count, filter.cells() + first * bits_per_cell(shape.kind) / 8);
  });
  return estimator.finish();
}

Estimator::Estimator(const Shape& shape)
    : shape_(shape), ranges_per_block_(shape.block_cells() / shape.probe_range()) {}

void Estimator::add(std::uint64_t first, std::uint64_t count, const std::uint8_t* cells) {
  for_each_part(first, count, shape_.probe_range(), [&](auto range, auto i, auto n) {
    if (range != range_) {
      end_range();
      range_ = range;
    }
    nonzero_in_range_ += count_nonzero(shape_.kind, cells, i - first, n);
  });
  if (shape_.kind == Kind::counting) {
    result_.saturated += count_saturated(cells, 0, count);
  }
}

Estimate Estimator::finish() {
  end_range();
  end_block();
  result_.fpr /= static_cast<double>(shape_.blocks());
  result_.fill = static_cast<double>(nonzero_) / static_cast<double>(shape_.cells);
  result_.keys_known = keys_in_full_blocks_ <= result_.keys / 2;
  result_.fpr =
      std::min(1.0, result_.fpr + double_hashing_excess(shape_, result_.fill, result_.keys));
  return result_;
}

void Estimator::end_range() {
  if (nonzero_in_range_ == 0) {
    return;
  }
  if (range_ / ranges_per_block_ != block_) {
    end_block();
    block_ = range_ / ranges_per_block_;
  }
  const double power = ranges_per_block_ == 1 ? shape_.hashes : 1;
  block_fpr_ *= std::pow(
      static_cast<double>(nonzero_in_range_) / static_cast<double>(shape_.probe_range()), power);
  ++filled_ranges_;
  nonzero_in_block_ += nonzero_in_range_;
  nonzero_in_range_ = 0;
}

void Estimator::end_block() {
  result_.fpr += filled_ranges_ == ranges_per_block_ ? block_fpr_ : 0;
  const double keys = estimate_keys(static_cast<double>(nonzero_in_block_),
                                    static_cast<double>(shape_.block_cells()), shape_.hashes);
  result_.keys += keys;
  keys_in_full_blocks_ += nonzero_in_block_ == shape_.block_cells() ? keys : 0;
  nonzero_ += nonzero_in_block_;
  nonzero_in_block_ = 0;
  block_fpr_ = 1;
  filled_ranges_ = 0;
}

bool exceeds_capacity(const Header& header, double estimated_keys) {
  if (header.capacity == 0) {
    return false;
  }
  const auto capacity = static_cast<double>(header.capacity);
  const auto m = static_cast<double>(header.shape.cells);
  const double k = header.shape.hashes;
  const double load = k * capacity / m;
  const double standard_error = std::sqrt(m * (std::expm1(load) - load)) / k;
  return estimated_keys > capacity + 3 * standard_error;
}

bool is_overfull(const Header& header, const Estimate& estimate) {
  return !estimate.keys_known || exceeds_capacity(header, estimate.keys);
}

}  // namespace bloom
