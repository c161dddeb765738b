// The arithmetic of Bloom filters: how many cells, how many hashes, which rate.
//
// n keys, m cells, k hashes, p false-positive rate. The four formulas below are those of the
// classic filter (L. Fan, P. Cao, J. Almeida, A. Broder, "Summary Cache", 2000) and inverse to each
// other; predicted_rate() and size_filter() know about blocks and slices as well.
// Each throws bloom::Error when an argument breaks its rule.
#pragma once

#include <cstdint>

#include "core/layout/format.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"

namespace bloom {

inline constexpr std::uint64_t kMaxKeys = kMaxCells;
inline constexpr double kDefaultFpr = 0.01;

// Cells for n keys at rate p with the best k: m = -n ln p / (ln 2)^2, rounded up.
std::uint64_t bits_for(std::uint64_t n, double p);

// The best number of hashes: k = (m / n) ln 2, rounded, at least 1 and at most kMaxHashes.
std::uint32_t hashes_for(std::uint64_t m, std::uint64_t n);

// The rate of n keys in m cells. Standard and counting: (1 - (1 - 1/m)^(k n))^k. Partitioned, with
// slices of s = m / k cells: (1 - (1 - 1/s)^n)^k.
double rate_for(std::uint64_t m, std::uint64_t n, std::uint32_t k, Kind kind = Kind::standard);

// The most keys, up to kMaxKeys, for which rate_for(m, n, k) stays at or below p.
std::uint64_t capacity_for(std::uint64_t m, std::uint32_t k, double p);

// The rate to expect of a shape with n keys: that of one block, with the spread of its fill,
// averaged over the binomial distribution of the keys over the blocks. Holds within 3 % from 1 KiB
// on, except for whole filters of less than some 100 KiB and rates under 1e-3: the family h1 + i *
// h2 has too few members for them (docs/choosing.md has the measured figures).
double predicted_rate(const Shape& shape, std::uint64_t n);

// What a filter for n keys at rate p should be: the fewest blocks of one chunk, or one smaller
// block, whose predicted rate is at most p. It can be halved at least 4 times once it has 1,024
// cells.
Header size_filter(std::uint64_t n, double p, Kind kind);

// The same with blocks of so many cells, or without blocks (0): the fewest of them, or the fewest
// cells, whose predicted rate is at most p.
Header size_filter(std::uint64_t n, double p, Kind kind, std::uint64_t block);

}  // namespace bloom
