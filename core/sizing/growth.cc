#include "core/sizing/growth.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bloom {
namespace {

// The shares are the terms c / (j (j + 1)) for j = c, c + 1, ..., which add up to 1.
constexpr double kFirstShareTerm = 3;  // c

// The factors of the total capacity: see core/sizing/growth.h.
constexpr double kSmallTotal = 100000;
constexpr double kSmallFactor = 3.16227766016838;  // 10^(1/2)
constexpr double kLargeFactor = 2.15443469003188;  // 10^(1/3)

Header make_layer(const Growth& growth, std::size_t i, std::uint64_t capacity) {
  assert(growth.block.value_or(0) == 0 || *growth.block >= kMinGrowingBlock);
  const double fpr = growth.fpr * fpr_share_of_layer(i);
  Header header = growth.block ? size_filter(capacity, fpr, growth.kind, *growth.block)
                               : size_filter(capacity, fpr, growth.kind);
  header.shape.seed = growth.seed;
  header.shape.collation = growth.collation;
  return header;
}

}  // namespace

double fpr_share_of_layer(std::size_t i) {
  const auto n = static_cast<double>(i);
  return kFirstShareTerm / ((n + kFirstShareTerm) * (n + kFirstShareTerm + 1));
}

Header first_layer(const Growth& growth, std::uint64_t capacity) {
  return make_layer(growth, 0, std::max(capacity, kMinFirstCapacity));
}

std::optional<Header> next_layer(const Growth& growth, std::span<const Header> layers) {
  assert(!layers.empty());
  double total = 0;
  for (const Header& header : layers) {
    total += static_cast<double>(header.capacity);
  }
  const double new_total = std::ceil(total * (total < kSmallTotal ? kSmallFactor : kLargeFactor));
  const double capacity = std::max(new_total - total, static_cast<double>(kMinFirstCapacity));
  // The classic filter needs 1.44 * capacity * -log2(fpr) cells. The factor 4 instead of 1.44
  // leaves room for the extra cells of blocks and slices.
  const double fpr = growth.fpr * fpr_share_of_layer(layers.size());
  if (layers.size() >= kMaxLayers ||
      capacity * -std::log2(fpr) * 4 > static_cast<double>(kMaxCells)) {
    return std::nullopt;
  }
  Growth matching = growth;
  matching.kind = layers.front().shape.kind;
  matching.seed = layers.front().shape.seed;
  matching.collation = layers.front().shape.collation;
  return make_layer(matching, layers.size(), static_cast<std::uint64_t>(capacity));
}

}  // namespace bloom
