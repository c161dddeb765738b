// The false-positive rate of a filter with blocks and slices, predicted from its shape.
#pragma once

#include <cstdint>

#include "core/layout/shape.h"

namespace bloom {

// Returns the expected FPR of a filter of this shape with n keys. This is the mean FPR of its
// blocks: the number of keys in a block is binomially distributed. The FPR of one block is
// corrected for the variance of its fill. The prediction is within 3 % of measured rates for
// filters of 1 KiB or more, and within 15 % for smaller unblocked filters. Requires:
// !broken_rule(shape).
double predicted_fpr(const Shape& shape, std::uint64_t n);

// Returns by how much the FPR of an unblocked filter with n keys is higher than fill^k. There are
// few sequences h1 + i * h2 in m cells. So a key can have one cell several times, and two keys can
// have all cells in common. The result is about 0.13 / m for a half-full filter with k = 20. It
// matters for small filters with a low FPR. Returns 0 for a blocked filter.
double double_hashing_excess(const Shape& shape, double fill, double n);

// Returns the FPR of a filter of very many blocks, with `mean` keys per block. `block` is the shape
// of one block. The number of keys in a block is then Poisson distributed. A filter of few blocks
// has a lower FPR, unless one key nearly fills a block. Requires: block.blocks() == 1.
double predicted_fpr_of_many_blocks(const Shape& block, double mean);

// Returns the largest n, from 1 to kMaxKeys, for which predicted_fpr(shape, n) <= p. Returns 1 if
// even one key exceeds p: unlike capacity_for(), this is the capacity of a filter that exists.
// Requires: !broken_rule(shape), and 0 < p < 1.
std::uint64_t largest_capacity(const Shape& shape, double p);

}  // namespace bloom
