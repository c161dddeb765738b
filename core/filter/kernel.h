// The functions that look up and change keys in one array of cells. There is one set of them for
// each kind of cell and of probe sequence (core/filter/probe.cc), and for block=512
// (core/filter/block512.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/layout/geometry.h"

namespace bloom {

// Functions for cells of one shape, as Probe calls them; the geometry must be of that shape.
struct Kernel {
  using Hashes = std::span<const Hash>;

  bool (*may_contain)(const Geometry&, Hash, const std::uint8_t* cells, std::uint64_t first);
  bool (*add)(const Geometry&, Hash, std::uint8_t* cells, std::uint64_t first);
  bool (*remove)(const Geometry&, Hash, std::uint8_t* cells, std::uint64_t first);
  void (*may_contain_all)(const Geometry&, Hashes, const std::uint8_t* cells, std::uint8_t* out);
  void (*add_all)(const Geometry&, Hashes, std::uint8_t* cells);
};

}  // namespace bloom
