// The growth of a filter that was not sized beforehand. The filter consists of layers, each a Bloom
// filter of its own. Keys are added to the newest layer and looked up in all layers (P. Almeida, C.
// Baquero, N. Preguica, D. Hutchison, "Scalable Bloom Filters", 2007).
//
// Layer i gets the share 3 / ((i + 3)(i + 4)) of the false-positive rate: 1/4, 3/20, 1/10, ... The
// shares add up to 1, so the filter never exceeds its FPR, however often it grows. These shares
// fall much more slowly than a geometric series. The bits per key therefore grow much more slowly,
// too. If the first layer has the whole FPR instead, because the caller sized it, all layers
// together have at most 1.75 times that FPR.
//
// Each new layer multiplies the total capacity by 10^(1/2), and by 10^(1/3) from 100,000 keys on:
// 1,050, 3,320, 10,500, 33,200, 105,000, 226,000, 487,000, 1,050,000, ... For large filters the
// smaller factor leaves less unused space. For small filters the larger factor means fewer layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "core/sizing/sizing.h"

namespace bloom {

// Default capacity of the first layer, in keys. As the filter grows, its total capacity is then 5 %
// above 1,000, 10,000, and so on. Without the margin, a filter of 1,000 keys could get a second
// layer, because the number of its keys is only an estimate.
inline constexpr std::uint64_t kFirstCapacity = 1050;

// Smallest capacity of the first layer, in keys. The number of keys in a smaller layer could not be
// estimated from its cells.
inline constexpr std::uint64_t kMinFirstCapacity = 32;

// More layers than a filter needs to grow to kMaxCells cells.
inline constexpr std::size_t kMaxLayers = 64;

// The smallest block of a filter that grows, in cells.
inline constexpr std::uint64_t kMinGrowingBlock = 64;

// The parameters shared by all layers of a filter. Requires: `block`, if given and not 0, is at
// least kMinGrowingBlock cells.
struct Growth {
  double fpr = kDefaultFpr;  // of the whole filter, if first_layer() made its first layer
  Kind kind = Kind::standard;
  std::optional<std::uint64_t> block = std::nullopt;  // as for size_filter()
  std::uint32_t seed = 0;
  Collation collation = Collation::binary;
};

// Returns the share of the filter's FPR that layer i gets: 0 < share < 1.
double fpr_share_of_layer(std::size_t i);

// Returns the first layer, for `capacity` keys but at least kMinFirstCapacity. Throws bloom::Error
// as size_filter() does.
Header first_layer(const Growth& growth, std::uint64_t capacity);

// Returns the layer to add after `layers`. Its kind, seed and collation are those of `layers`,
// whatever `growth` says, so all layers use the same hash of a key. Returns nullopt if find_size()
// does, or if there are kMaxLayers layers already. Requires: `layers` is not empty.
std::optional<Header> next_layer(const Growth& growth, std::span<const Header> layers);

}  // namespace bloom
