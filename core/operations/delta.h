// What makes one filter of another that the receiver has already: the update protocol of summaries
// that are sent around.
//
// A delta names the bits of the cells that differ, by the gaps between them, in Golomb-Rice code
// (S. Golomb, 1966; R. Rice, 1979): next to the fewest bytes that there can be, as hashing puts the
// bits of a filter anywhere. A filter of another shape is told by the bits that are set in it. A
// delta is never more than kDeltaPrefixBytes longer than the filter that it makes. docs/format.md
// specifies its bytes, and no other file knows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "core/support/interrupt_check.h"
#include "core/support/memory.h"

namespace bloom {

// Before the header of the filter that it makes, which is left out where it is that of the other.
inline constexpr std::size_t kDeltaPrefixBytes = 24;

// A whole delta, as it is stored.
struct StoredDelta {
  OwnedBytes bytes;
  std::uint64_t size;
};

// What makes `after` of `before`. Throws std::bad_alloc.
StoredDelta delta(const FilterView& before, const FilterView& after,
                  const InterruptCheck& check_interrupt = {});

// Somebody else's bytes, seen as a delta; they must outlive it.
struct DeltaView {
  unsigned remainder_bits;  // of each gap, below those that are counted out
  std::uint64_t before;     // the digests of both filters
  std::uint64_t after;
  std::optional<Header> header;  // of the filter that it makes; none: as before
  ByteView gaps;
};

// Takes time that does not depend on the size.
std::variant<DeltaView, Problem> open_delta(ByteView stored);

// The filter that was told: bit for bit, or what is wrong. A Problem is foreign if the delta was
// made from another filter than `before`. The header of the delta, if it has one, should be looked
// at first: it says how much memory it takes. Throws std::bad_alloc.
std::variant<Filter, Problem> apply(const FilterView& before, const DeltaView& delta,
                                    const InterruptCheck& check_interrupt = {});

}  // namespace bloom
