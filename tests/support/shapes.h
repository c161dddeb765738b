// The shapes of the property tests: every kind, unblocked and blocked, with sizes that do and do
// not end on a byte.
#pragma once

#include <ostream>
#include <vector>

#include "core/layout/geometry.h"

namespace bloom {

inline std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << name_of(shape.kind) << " m=" << shape.cells << " k=" << shape.hashes
             << " block=" << shape.block << " seed=" << shape.seed;
}

namespace test {

inline std::vector<Shape> small_shapes() {
  using enum Kind;
  return {
      {.kind = standard, .hashes = 1, .cells = 1},
      {.kind = standard, .hashes = 3, .cells = 7},
      {.kind = standard, .hashes = 7, .cells = 960},
      {.kind = standard, .hashes = 4, .cells = 1001, .seed = 5},
      {.kind = standard, .hashes = 5, .cells = 1024, .block = 1024},
      {.kind = standard, .hashes = 6, .cells = 1024, .block = 64},
      {.kind = standard, .hashes = 5, .cells = 1200, .block = 100, .seed = 9},
      {.kind = standard, .hashes = 3, .cells = 231, .block = 33},
      {.kind = standard, .hashes = 7, .cells = 126976, .block = 31744},
      {.kind = standard, .hashes = 1, .cells = 512, .block = 512},
      {.kind = standard, .hashes = 6, .cells = 5120, .block = 512},
      {.kind = standard, .hashes = 21, .cells = 1536, .block = 512, .seed = 7},
      {.kind = counting, .hashes = 1, .cells = 1},
      {.kind = counting, .hashes = 3, .cells = 9},
      {.kind = counting, .hashes = 4, .cells = 1000},
      {.kind = counting, .hashes = 5, .cells = 800, .block = 100},
      {.kind = counting, .hashes = 3, .cells = 42, .block = 7, .seed = 3},
      {.kind = counting, .hashes = 6, .cells = 15872, .block = 7936},
      {.kind = partitioned, .hashes = 1, .cells = 8},
      {.kind = partitioned, .hashes = 3, .cells = 15},
      {.kind = partitioned, .hashes = 7, .cells = 1120, .seed = 1},
      {.kind = partitioned, .hashes = 4, .cells = 384, .block = 64},
      {.kind = partitioned, .hashes = 3, .cells = 204, .block = 51},
      {.kind = partitioned, .hashes = 8, .cells = 63488, .block = 31744},
  };
}

}  // namespace test
}  // namespace bloom
