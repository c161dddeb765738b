// Deltas: what turns an old filter into a new one, for receivers that have the old filter. This is
// the update protocol for summaries that are distributed to other sites.
//
// A delta lists the bits of the cells that differ, as the gaps between them in Golomb-Rice code (S.
// Golomb, 1966; R. Rice, 1979). Hashing distributes the bits of a filter uniformly, so this code is
// close to the shortest possible. If the two filters differ in shape, the delta lists all set bits
// of the new filter. A delta is at most kDeltaPrefixBytes longer than the new filter.
// docs/table-format.md specifies the bytes of a delta, and no other source file depends on them.
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

// The fixed-size prefix of a delta, in bytes. The header of the new filter follows, unless it
// equals that of the old filter. Then follow the gaps.
inline constexpr std::size_t kDeltaPrefixBytes = 24;

// A complete delta in its stored form.
struct StoredDelta {
  OwnedBytes bytes;
  std::uint64_t size;
};

// Returns the delta that turns `before` into `after`. Throws std::bad_alloc and what
// `check_interrupt` throws.
StoredDelta make_delta(const FilterView& before, const FilterView& after,
                       const InterruptCheck& check_interrupt = {});

// A parsed delta that refers to borrowed bytes. Requires: the bytes outlive the view.
struct DeltaView {
  unsigned remainder_bits;       // low bits of each gap; the rest is in unary
  std::uint64_t before_digest;   // of the old filter
  std::uint64_t after_digest;    // of the new filter
  std::optional<Header> header;  // of the new filter; nullopt: same as the old one
  ByteView gaps;
};

// Parses and checks all of a delta except the gaps, in constant time.
std::variant<DeltaView, Problem> open_delta(ByteView stored);

// Returns the new filter, bit for bit, or the reason why the delta cannot be applied. The Problem
// is foreign if the delta was made from a filter other than `before`. Allocates the new filter,
// whose size comes from the delta: the caller first checks the size in delta.header, if there is
// one. Throws std::bad_alloc and what `check_interrupt` throws.
std::variant<Filter, Problem> apply_delta(const FilterView& before, const DeltaView& delta,
                                          const InterruptCheck& check_interrupt = {});

}  // namespace bloom
