// Operations on whole filters: union, intersection, halving, and conversion of counting to
// standard.
#pragma once

#include <string_view>

#include "core/filter/filter.h"
#include "core/layout/shape.h"

namespace bloom {

// Returns whether f is the neutral element of the union: a filter with capacity 1 and no keys.
// bloom_build() returns such a filter for zero rows. Without a row, SQLite does not pass the
// arguments of an aggregate, so bloom_build() cannot know the intended size. A neutral filter is
// therefore compatible with every filter. Throws what `check_interrupt` throws.
bool is_neutral(const FilterView& f, const InterruptCheck& check_interrupt = {});

// Return the union or intersection of f and g. The union is the filter of all keys that were added
// to f or g. The intersection contains at least the keys that were added to both. Counting filters:
// counters are added and saturate at 15 (union), or the smaller counter is taken (intersection).
//
// If the sizes differ, the smaller filter is doubled to the size of the larger one. Each of its
// cells is copied to all cells that halving merges into it. Its FPR stays the same, and the larger
// filter loses nothing. Halving the larger filter instead could fill it up, and the result of many
// merges would depend on their order. The result can still be halved later, and has the same bits
// then. One disadvantage: each doubling doubles the keys that estimate() finds in the smaller
// filter.
//
// The header of the result has the smaller capacity and the larger FPR of the two filters. Doubling
// a filter also doubles its capacity. The capacity and the FPR of the result are unknown (0) if
// either capacity is unknown. If one filter is neutral, the union is the other one, and the
// intersection is an empty filter with the header of the other one.
//
// Throws Error about `subject`, the name of g in the message, if the filters are not compatible.
// Also throws std::bad_alloc and what `check_interrupt` throws.
Filter make_union(Filter f, const FilterView& g, std::string_view subject,
                  const InterruptCheck& check_interrupt = {});
Filter make_intersection(Filter f, const FilterView& g, std::string_view subject,
                         const InterruptCheck& check_interrupt = {});

// Returns g in the shape of `goal`, so that it can be merged into a filter of that shape. A larger
// filter is halved, and a smaller one is doubled as for make_union(). Throws Error if that is
// impossible. The message names g `subject` and the other filter `goal_name`. Also throws
// std::bad_alloc and what `check_interrupt` throws.
Filter resized_to_match(const FilterView& g, const Header& goal, std::string_view subject,
                        std::string_view goal_name, const InterruptCheck& check_interrupt = {});

// Returns how many times a filter of this shape can be halved: see HalvingMethod.
unsigned times_halvable(Shape shape);

// Throws Error about `subject` if a filter of this shape cannot be halved.
void require_halvable(const Shape& shape, std::string_view subject);

// Return the header or filter with half the cells, half the capacity and the same FPR. Throws
// std::bad_alloc and what `check_interrupt` throws. Requires: times_halvable(f.shape()) > 0.
Header halved(const Header& header);
Filter halve(const FilterView& f, const InterruptCheck& check_interrupt = {});

// Converts a counting filter to a standard filter with the same positions and a quarter of the
// bytes. A standard filter is copied. Throws Error about `subject` if f is partitioned. Also throws
// std::bad_alloc and what `check_interrupt` throws.
Filter to_standard(const FilterView& f, std::string_view subject,
                   const InterruptCheck& check_interrupt = {});

}  // namespace bloom
