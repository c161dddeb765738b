// The shapes that the property tests run over: every kind, whole and in blocks, with sizes that do
// and do not end on a byte.
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
      {standard, 1, 1, 0, 0},       {standard, 3, 7, 0, 0},       {standard, 7, 960, 0, 0},
      {standard, 4, 1001, 0, 5},    {standard, 5, 1024, 1024, 0}, {standard, 6, 1024, 64, 0},
      {standard, 5, 1200, 100, 9},  {standard, 3, 231, 33, 0},    {standard, 7, 126976, 31744, 0},
      {standard, 1, 512, 512, 0},   {standard, 6, 5120, 512, 0},  {standard, 21, 1536, 512, 7},
      {counting, 1, 1, 0, 0},       {counting, 3, 9, 0, 0},       {counting, 4, 1000, 0, 0},
      {counting, 5, 800, 100, 0},   {counting, 3, 42, 7, 3},      {counting, 6, 15872, 7936, 0},
      {partitioned, 1, 8, 0, 0},    {partitioned, 3, 15, 0, 0},   {partitioned, 7, 1120, 0, 1},
      {partitioned, 4, 384, 64, 0}, {partitioned, 3, 204, 51, 0}, {partitioned, 8, 63488, 31744, 0},
  };
}

}  // namespace test
}  // namespace bloom
