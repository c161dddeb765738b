// What the shadow table <name>_config says about the segments of a virtual table.
#pragma once

#include <cstdint>

#include "core/layout/format.h"
#include "sql/values/integers.h"

namespace bloom {

struct SegmentConfig {
  Header header;                    // of each filter
  std::uint64_t segments = 0;       // all segments
  std::uint64_t wide_segments = 0;  // segments that are in _wide

  std::uint64_t chunks_per_segment() const { return header.shape.blocks(); }
};

}  // namespace bloom
