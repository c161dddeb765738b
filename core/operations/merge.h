// Whole filters made into one: union, intersection, halving, and the bits of a counting filter.
#pragma once

#include <string_view>

#include "core/filter/filter.h"
#include "core/layout/shape.h"

namespace bloom {

// The filter of the keys that either / both were built from. Unequal sizes are brought together by
// halving the larger one; when that cannot be, throws Error about `subject`, which names g.
// Counting: the counters are added, sticking at 15 / the smaller are taken.
// Sized for what both were: the smaller capacity and the larger rate, unknown if either is.
Filter make_union(Filter f, const FilterView& g, std::string_view subject,
                  const InterruptCheck& check_interrupt = {});
Filter make_intersection(Filter f, const FilterView& g, std::string_view subject,
                         const InterruptCheck& check_interrupt = {});

// g brought to the shape of a filter that it is to be merged into, by halving it. Throws Error
// about `subject`, which names g, when that cannot be; `goal_name` names the other one.
Filter halved_to_match(const FilterView& g, const Shape& goal, std::string_view subject,
                       std::string_view goal_name, const InterruptCheck& check_interrupt = {});

// How often a filter of this shape can be halved: as long as the number of blocks is even, then the
// number of cells in a block (or slice).
unsigned times_halvable(Shape shape);

// Throws Error about `subject` if that is never.
void require_halvable(const Shape& shape, std::string_view subject);

// Half the cells and half the capacity at the same rate. REQUIRES: times_halvable(f.shape()) > 0.
Header halved(const Header& header);
Filter halve(const FilterView& f, const InterruptCheck& check_interrupt = {});

// The plain bit filter of a counting one, a quarter of its bytes. A standard filter is copied.
// Throws Error about `subject` for a partitioned one.
Filter to_standard(const FilterView& f, std::string_view subject,
                   const InterruptCheck& check_interrupt = {});

}  // namespace bloom
