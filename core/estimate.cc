#include "core/estimate.h"

#include <algorithm>
#include <cmath>

namespace bloom {
namespace {

double keys_in_block(double used, double cells, double k) {
  if (used == 0) {
    return 0;
  }
  const double empty = std::max(cells - used, 0.5);
  // One cell tells only that there is a key.
  return cells == 1 ? 1 : std::log(empty / cells) / (k * std::log1p(-1 / cells));
}

}  // namespace

Estimate estimate(const FilterView& filter) {
  const Shape& shape = filter.shape();
  const double k = shape.hashes;
  const std::uint64_t regions = shape.block_cells() / shape.span();
  const auto span = static_cast<double>(shape.span());
  const double power = regions == 1 ? k : 1;

  Estimate result;
  std::uint64_t used = 0;
  for (std::uint64_t block = 0; block < shape.blocks(); ++block) {
    std::uint64_t used_in_block = 0;
    double rate = 1;
    for (std::uint64_t region = 0; region < regions; ++region) {
      const std::uint64_t first = block * shape.block_cells() + region * shape.span();
      const std::uint64_t n = count_used(shape.kind, filter.cells(), first, shape.span());
      used_in_block += n;
      rate *= n == 0 ? 0 : std::pow(static_cast<double>(n) / span, power);
    }
    used += used_in_block;
    result.fpr += rate;
    result.keys += keys_in_block(static_cast<double>(used_in_block),
                                 static_cast<double>(shape.block_cells()), k);
  }
  result.fpr /= static_cast<double>(shape.blocks());
  result.fill = static_cast<double>(used) / static_cast<double>(shape.cells);
  if (shape.kind == Kind::counting) {
    result.stuck = count_stuck(filter.cells(), shape.cells);
  }
  return result;
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
