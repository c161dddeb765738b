// The size of a filter for a number of keys and a false-positive rate.
//
// n is the number of keys, m of cells, k of hashes; p is the false-positive rate, 0 < p < 1.
#pragma once

#include <cstdint>

#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "core/sizing/formulas.h"

namespace bloom {

inline constexpr double kDefaultFpr = 0.01;

// Returns the header of a filter sized for n keys at FPR p: about the smallest one with a predicted
// FPR of at most p. Each block is as large as a chunk, or there is a single smaller block. A filter
// with at least 1,024 cells can be halved at least 4 times.
//
// Sizes are rounded up so that they line up: a filter of more than 8 chunks (31 KiB) has exactly
// half the blocks of the filter for 2n keys, and can be merged with it. The rounding costs 5 % of
// the bytes on average, and 12.5 % at most. It lowers the FPR.
//
// Throws bloom::Error if an argument is out of range, or if the filter would need more than
// kMaxCells cells.
Header size_filter(std::uint64_t n, double p, Kind kind);

// The same with blocks of `block` cells. If `block` is 0, the filter is unblocked. Smaller blocks
// are rounded up by less: at most 0.8 % if they are smaller than 1/16 of a chunk.
Header size_filter(std::uint64_t n, double p, Kind kind, std::uint64_t block);

}  // namespace bloom
