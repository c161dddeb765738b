// How a filter grows that was not sized beforehand: by layers, each a filter of its own. A key is
// added to the newest layer, and asked for in all (P. Almeida, C. Baquero, N. Preguica, D.
// Hutchison, "Scalable Bloom Filters", 2007).
//
// Layer i has the share 3 / ((i + 3)(i + 4)) of the rate: 1/4, 3/20, 1/10, ... add up to 1, so that
// the whole never exceeds its rate however often it grows. The shares fall much slower than those
// of a geometric series, and so the bits per key grow much slower.
//
// Each layer brings the capacity to 10^(1/2) times what it was, up to 100,000 keys, and then to
// 10^(1/3) times: 1,050, 3,320, 10,500, 33,200, 105,000, 226,000, 487,000, 1,050,000, ... The
// larger the filter, the less of it is room that is not used yet; the smaller, the fewer layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "core/sizing/sizing.h"

namespace bloom {

// Keys of the first layer, unless it is known better. It makes all powers of ten fit: how full a
// layer is, is estimated.
inline constexpr std::uint64_t kFirstCapacity = 1050;

inline constexpr std::uint64_t kMinFirstCapacity = 32;

// More than a filter comes to need on its way to kMaxCells cells.
inline constexpr std::size_t kMaxLayers = 64;

// What all layers of a filter are made for. Blocks must have at least kMinGrowingBlock cells.
inline constexpr std::uint64_t kMinGrowingBlock = 64;
struct Growth {
  double fpr = kDefaultFpr;  // of the whole
  Kind kind = Kind::standard;
  std::optional<std::uint64_t> block = std::nullopt;  // as for size_filter()
  std::uint32_t seed = 0;
  Collation collation = Collation::binary;
};

// The share of the rate that layer i may have.
double share_of_layer(std::size_t i);

// The first layer, for at least kMinFirstCapacity keys: how full a smaller one is, cannot be told
// from its cells. Throws bloom::Error as size_filter() does.
Header first_layer(const Growth& growth, std::uint64_t capacity);

// The layer to come after these, which takes the same hash of a key as they do, whatever `growth`
// says; none when it would have more than kMaxCells cells, or be one more than kMaxLayers.
std::optional<Header> next_layer(const Growth& growth, std::span<const Header> layers);

}  // namespace bloom
