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

// How often a filter of this shape can be halved: as long as the number of blocks is even, then the
// number of cells in a block (or slice).
unsigned times_halvable(Shape shape);

// Half the cells and half the capacity at the same rate. REQUIRES: times_halvable(f.shape()) > 0.
Filter halve(const FilterView& f);

// The plain bit filter of a counting one, a quarter of its bytes. A standard filter is copied.
// Throws Error about `subject` for a partitioned one.
Filter to_standard(const FilterView& f, std::string_view subject);

}  // namespace bloom
