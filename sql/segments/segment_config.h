// What the shadow table <name>_config says about the segments of a virtual table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/format.h"

namespace bloom {

struct SegmentConfig {
  Header header;                    // of each filter
  std::uint64_t segments = 0;       // all segments
  std::uint64_t wide_segments = 0;  // segments that are in _wide

  std::uint64_t chunks_per_segment() const { return header.shape.blocks(); }
};

// Returns a slot, an id or a count as SQLite stores it.
inline std::int64_t as_integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
// For sizes and positions in memory, which are smaller than 2^32 on 32-bit machines.
inline std::size_t as_size(std::uint64_t value) { return static_cast<std::size_t>(value); }

}  // namespace bloom
