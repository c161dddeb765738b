// The arithmetic of Bloom filters: number of cells, number of hashes, capacity and false-positive
// rate.
//
// n is the number of keys, m of cells, k of hashes; p is the false-positive rate, 0 < p < 1. The
// first four functions use the formulas of the classic filter (L. Fan, P. Cao, J. Almeida, A.
// Broder, "Summary Cache", 2000), solved for one variable each. predicted_fpr() and size_filter()
// also take blocks and slices into account. All functions except predicted_fpr() and
// largest_capacity() throw bloom::Error if an argument is out of range.
#pragma once

#include <cstdint>

#include "core/layout/format.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"

namespace bloom {

inline constexpr std::uint64_t kMaxKeys = kMaxCells;
inline constexpr double kDefaultFpr = 0.01;

// Returns the cells needed for n keys at FPR p with the best k: m = -n ln p / (ln 2)^2, rounded up.
std::uint64_t bits_for(std::uint64_t n, double p);

// Returns the best number of hashes: k = (m / n) ln 2, rounded and clamped to 1..kMaxHashes.
std::uint32_t hashes_for(std::uint64_t m, std::uint64_t n);

// Returns the FPR of n keys in m cells. Standard and counting: (1 - (1 - 1/m)^(k n))^k.
// Partitioned, with slices of s = m / k cells: (1 - (1 - 1/s)^n)^k.
double fpr_for(std::uint64_t m, std::uint64_t n, std::uint32_t k, Kind kind = Kind::standard);

// Returns the largest n, up to kMaxKeys, for which fpr_for(m, n, k) <= p. Returns 0 if even one
// key exceeds p.
std::uint64_t capacity_for(std::uint64_t m, std::uint32_t k, double p);

// Returns the expected FPR of a filter of this shape with n keys. This is the mean FPR of its
// blocks: the number of keys in a block is binomially distributed. The FPR of one block is
// corrected for the variance of its fill. The prediction is within 3 % of measured rates for
// filters of 1 KiB or more. The exceptions are unblocked filters below about 100 KiB with FPRs
// under 1e-3: for these the family h1 + i * h2 has too few members (docs/choosing.md has
// measurements). Requires: !broken_rule(shape).
double predicted_fpr(const Shape& shape, std::uint64_t n);

// Returns the largest n, from 1 to kMaxKeys, for which predicted_fpr(shape, n) <= p. Returns 1 if
// even one key exceeds p. Requires: !broken_rule(shape), and 0 < p < 1.
std::uint64_t largest_capacity(const Shape& shape, double p);

// Returns the header of a filter sized for n keys at FPR p: the smallest one with a predicted FPR
// of at most p. Each block is as large as a chunk, or there is a single smaller block. A filter
// with at least 1,024 cells can be halved at least 4 times. Throws bloom::Error also if the filter
// would need more than kMaxCells cells.
Header size_filter(std::uint64_t n, double p, Kind kind);

// The same with the fewest blocks of `block` cells. If `block` is 0, the filter is unblocked and
// has the fewest cells.
Header size_filter(std::uint64_t n, double p, Kind kind, std::uint64_t block);

}  // namespace bloom
