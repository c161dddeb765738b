#include "core/operations/estimate.h"

#include <algorithm>
#include <cmath>

#include "core/layout/shape.h"

namespace bloom {

double keys_for(double used, double cells, double k) {
  if (used == 0) {
    return 0;
  }
  const double empty = std::max(cells - used, 0.5);
  // A filter of one cell can only tell that there is at least one key.
  return cells == 1 ? 1 : std::log(empty / cells) / (k * std::log1p(-1 / cells));
}

Estimate estimate(const FilterView& filter, const InterruptCheck& check_interrupt) {
  const Shape& shape = filter.shape();
  Estimator estimator(shape);
  for_each_slice(shape.cells, kSliceBits, check_interrupt, [&](auto first, auto count) {
    estimator.add(first, count, filter.cells() + first * bits_per_cell(shape.kind) / 8);
  });
  return estimator.finish();
}

Estimator::Estimator(const Shape& shape)
    : shape_(shape), regions_(shape.block_cells() / shape.span()) {}

void Estimator::add(std::uint64_t first, std::uint64_t count, const std::uint8_t* cells) {
  for_each_part(first, count, shape_.span(), [&](auto region, auto i, auto n) {
    if (region != region_) {
      end_region();
      region_ = region;
    }
    used_in_region_ += count_nonzero(shape_.kind, cells, i - first, n);
  });
  if (shape_.kind == Kind::counting) {
    result_.saturated += count_saturated(cells, 0, count);
  }
}

Estimate Estimator::finish() {
  end_region();
  end_block();
  result_.fpr /= static_cast<double>(shape_.blocks());
  result_.fill = static_cast<double>(used_) / static_cast<double>(shape_.cells);
  return result_;
}

void Estimator::end_region() {
  if (used_in_region_ == 0) {
    return;
  }
  if (region_ / regions_ != block_) {
    end_block();
    block_ = region_ / regions_;
  }
  const double power = regions_ == 1 ? shape_.hashes : 1;
  rate_of_block_ *=
      std::pow(static_cast<double>(used_in_region_) / static_cast<double>(shape_.span()), power);
  ++regions_of_block_;
  used_in_block_ += used_in_region_;
  used_in_region_ = 0;
}

void Estimator::end_block() {
  result_.fpr += regions_of_block_ == regions_ ? rate_of_block_ : 0;
  result_.keys += keys_for(static_cast<double>(used_in_block_),
                           static_cast<double>(shape_.block_cells()), shape_.hashes);
  used_ += used_in_block_;
  used_in_block_ = 0;
  rate_of_block_ = 1;
  regions_of_block_ = 0;
}

bool overfull(const Header& header, double keys) {
  if (header.capacity == 0) {
    return false;
  }
  const auto capacity = static_cast<double>(header.capacity);
  const auto m = static_cast<double>(header.shape.cells);
  const double k = header.shape.hashes;
  const double load = k * capacity / m;
  const double standard_error = std::sqrt(m * (std::expm1(load) - load)) / k;
  return keys > capacity + 3 * standard_error;
}

}  // namespace bloom
