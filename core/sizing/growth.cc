#include "core/sizing/growth.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace bloom {
namespace {

// The shares are the terms c / (j (j + 1)) for j = c, c + 1, ..., which add up to 1.
constexpr double kFirstShareTerm = 3;  // c

// The factors of the total capacity: see core/sizing/growth.h.
constexpr double kSmallTotal = 100000;
constexpr double kSmallFactor = 3.16227766016838;  // 10^(1/2)
constexpr double kLargeFactor = 2.15443469003188;  // 10^(1/3)

}  // namespace

double fpr_share_of_layer(std::size_t i) {
  const auto n = static_cast<double>(i);
  return kFirstShareTerm / ((n + kFirstShareTerm) * (n + kFirstShareTerm + 1));
}

Header first_layer(const Growth& growth, std::uint64_t capacity) {
  assert(growth.block.value_or(0) == 0 || *growth.block >= kMinGrowingBlock);
  Header header = size_filter(std::max(capacity, kMinFirstCapacity),
                              growth.fpr * fpr_share_of_layer(0), growth.kind, growth.block);
  header.shape.seed = growth.seed;
  header.shape.collation = growth.collation;
  return header;
}

std::optional<Header> next_layer(const Growth& growth, std::span<const Header> layers) {
  assert(!layers.empty());
  double total = 0;
  for (const Header& header : layers) {
    total += static_cast<double>(header.capacity);
  }
  const double new_total = std::ceil(total * (total < kSmallTotal ? kSmallFactor : kLargeFactor));
  const double capacity = std::max(new_total - total, static_cast<double>(kMinFirstCapacity));
  const double fpr = growth.fpr * fpr_share_of_layer(layers.size());
  // Not fpr == 0: processors with 80-bit registers know smaller numbers than a double.
  const bool has_fpr = fpr >= std::numeric_limits<double>::min();
  if (layers.size() >= kMaxLayers || capacity > static_cast<double>(kMaxKeys) || !has_fpr) {
    return std::nullopt;
  }
  const Shape& first = layers.front().shape;
  auto next = find_size(static_cast<std::uint64_t>(capacity), fpr, first.kind, growth.block);
  if (next) {
    next->shape.seed = first.seed;
    next->shape.collation = first.collation;
  }
  return next;
}

}  // namespace bloom
