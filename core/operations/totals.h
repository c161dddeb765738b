// The properties of a filter as a whole, from those of its layers. A filter that does not grow has
// one layer.
//
// Every function requires: `layers` is not empty, and `estimates` has one entry per layer.
#pragma once

#include <cstdint>
#include <span>

#include "core/layout/format.h"
#include "core/operations/estimate_result.h"

namespace bloom {

std::uint64_t total_cells(std::span<const Header> layers);
std::uint64_t total_bytes(std::span<const Header> layers);  // headers included
// Returns 0 if the capacity is unknown. Only a filter of one layer can have an unknown capacity.
std::uint64_t total_capacity(std::span<const Header> layers);

// Returns the estimates for the filter as a whole. Its FPR is the probability that at least one
// layer returns a false positive.
Estimate total_estimate(std::span<const Header> layers, std::span<const Estimate> estimates);
// Returns the FPR of a lookup in two filters with the FPRs a and b. Without rounding errors if a or
// b is 0.
inline double fpr_of_either(double a, double b) { return a + b - a * b; }
// Returns whether the filter has more keys than its capacity: see is_overfull() of one filter. Only
// the newest layer takes keys, so it alone can have too many.
bool is_overfull(std::span<const Header> layers, std::span<const Estimate> estimates);

}  // namespace bloom
