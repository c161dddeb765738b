// The size of a filter for a number of keys and a false-positive rate.
// n is the number of keys, and p the false-positive rate, 0 < p < 1.
#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "core/sizing/formulas.h"

namespace bloom {

inline constexpr double kDefaultFpr = 0.01;

// Returns the header of a filter sized for n keys at FPR p: about the smallest one with a predicted
// FPR of at most p. Each block is as large as a chunk, or there is a single smaller block. A filter
// with at least 1,024 cells can be halved at least 4 times.
//
// Sizes are rounded up so that filters of different capacities can be merged. A filter of more than
// 8 chunks (31 KiB) has exactly half the blocks of the filter for 2n keys. The rounding costs 5 %
// of the bytes on average, and 12.5 % at most. It lowers the FPR.
//
// With `block`, each block has that many cells; if it is 0, the filter is unblocked. The rounding
// costs less with smaller blocks: at most 0.8 % if a block is at most 1/16 of a chunk.
//
// Throws bloom::Error if an argument is out of range, if the filter would need more than kMaxCells
// cells, or if the slices of a partitioned filter do not divide the block.
Header size_filter(std::uint64_t n, double p, Kind kind,
                   std::optional<std::uint64_t> block = std::nullopt);

// The same, but returns nullopt if there is no such filter. Throws bloom::Error if an argument is
// out of range.
std::optional<Header> find_size(std::uint64_t n, double p, Kind kind,
                                std::optional<std::uint64_t> block = std::nullopt);

}  // namespace bloom
