// The functions that look up, add and remove keys in one array of cells. There is one set of
// functions (a kernel) for each combination of cell type and probe sequence
// (core/filter/array_filter.cc). block=512 has kernels of its own (core/filter/block512.h).
#pragma once

#include <cstdint>
#include <span>

#include "core/layout/geometry.h"

namespace bloom {

// The functions that ArrayFilter calls. The block of the key starts at cell `first` of `cells`. The
// functions for a batch of keys take the array of all cells. `remove` is null unless the cells are
// counters. Requires: the geometry is that of the shape for which the kernel was selected.
struct Kernel {
  using Hashes = std::span<const Hash>;

  bool (*may_contain)(const Geometry&, Hash, const std::uint8_t* cells, std::uint64_t first);
  bool (*add)(const Geometry&, Hash, std::uint8_t* cells, std::uint64_t first);
  bool (*remove)(const Geometry&, Hash, std::uint8_t* cells, std::uint64_t first);
  void (*may_contain_batch)(const Geometry&, Hashes, const std::uint8_t* cells, std::uint8_t* out);
  void (*add_batch)(const Geometry&, Hashes, std::uint8_t* cells);
};

}  // namespace bloom
