// Whole filters made into one: union, intersection, halving, and the bits of a counting filter.
#pragma once

#include <string_view>

#include "core/filter.h"

namespace bloom {

// The filter of the keys that either / both were built from. Unequal sizes are brought together by
// halving the larger one; when that cannot be, throws Error about `subject`, which names g.
// Counting: the counters are added, sticking at 15 / the smaller are taken.
// Sized for what both were: the smaller capacity and the larger rate, unknown if either is.
Filter unite(Filter f, const FilterView& g, std::string_view subject);
Filter intersect(Filter f, const FilterView& g, std::string_view subject);

// Half the cells and half the capacity at the same rate. Throws Error when the cells cannot be
// paired, naming `subject`.
Filter halve(const FilterView& f, std::string_view subject);

// The plain bit filter of a counting one, a quarter of its bytes. A standard filter is copied.
// Throws Error about `subject` for a partitioned one.
Filter to_standard(const FilterView& f, std::string_view subject);

}  // namespace bloom
