// The formula of the classic Bloom filter, solved for each of its variables (L. Fan, P. Cao, J.
// Almeida, A. Broder, "Summary Cache", 2000).
//
// n is the number of keys, m of cells, k of hashes; p is the false-positive rate, 0 < p < 1.
// bits_for(), hashes_for(), fpr_for() and capacity_for() throw bloom::Error if an argument is out
// of range.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/layout/shape.h"

namespace bloom {

inline constexpr std::uint64_t kMaxKeys = kMaxCells;

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

// Returns the FPR of n keys in one block of `shape`, by the formula of fpr_for(). n may be a mean.
double classic_fpr_of_block(const Shape& shape, double n);

// Throw Error about `name` if n is not in 1..kMaxKeys, or if p is not between 0 and 1.
void require_keys(std::string_view name, std::uint64_t n);
void require_fpr(std::string_view name, double p);

}  // namespace bloom
