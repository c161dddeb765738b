#include "core/sizing/growth.h"

#include <algorithm>
#include <cmath>

namespace bloom {
namespace {

constexpr double kShares = 3;
constexpr double kSmall = 100000;
constexpr double kFactorOfSmall = 3.16227766016838;  // 10^(1/2)
constexpr double kFactor = 2.15443469003188;         // 10^(1/3)

Header layer(const Growth& growth, std::size_t i, std::uint64_t capacity) {
  const double fpr = growth.fpr * share_of_layer(i);
  Header header = growth.block ? size_filter(capacity, fpr, growth.kind, *growth.block)
                               : size_filter(capacity, fpr, growth.kind);
  header.shape.seed = growth.seed;
  header.shape.collation = growth.collation;
  return header;
}

}  // namespace

double share_of_layer(std::size_t i) {
  const auto n = static_cast<double>(i);
  return kShares / ((n + kShares) * (n + kShares + 1));
}

Header first_layer(const Growth& growth, std::uint64_t capacity) {
  return layer(growth, 0, std::max(capacity, kMinFirstCapacity));
}

std::optional<Header> next_layer(const Growth& growth, std::span<const Header> layers) {
  double total = 0;
  for (const Header& header : layers) {
    total += static_cast<double>(header.capacity);
  }
  const double grown = std::ceil(total * (total < kSmall ? kFactorOfSmall : kFactor));
  const double capacity = std::max(grown - total, static_cast<double>(kMinFirstCapacity));
  // The classic filter needs 1.44 * capacity * -log2(rate) cells. The factor 4 instead of 1.44
  // leaves room for the extra cells of blocks and slices.
  const double rate = growth.fpr * share_of_layer(layers.size());
  if (layers.size() >= kMaxLayers ||
      capacity * -std::log2(rate) * 4 > static_cast<double>(kMaxCells)) {
    return std::nullopt;
  }
  Growth alike = growth;
  alike.kind = layers.front().shape.kind;
  alike.seed = layers.front().shape.seed;
  alike.collation = layers.front().shape.collation;
  return layer(alike, layers.size(), static_cast<std::uint64_t>(capacity));
}

}  // namespace bloom
