// What is done to the k cells of a key, whoever keeps the cells: one array (core/filter.h), or
// chunks that come and go (core/chunked.h).
//
// Cells is a class with
//   unsigned get(std::uint64_t i);  // what is in cell i
//   bool add(std::uint64_t i);      // whether the cell changed
//   bool remove(std::uint64_t i);   // counters: false, with nothing changed, if the cell is 0
#pragma once

#include <cstdint>

#include "core/geometry.h"

namespace bloom {

// False: certainly not added. True: maybe.
template <typename Cells>
bool may_contain_key(const Geometry& geometry, const Hash& hash, Cells&& cells) {
  return geometry.all_cells(hash, [&](std::uint64_t i) { return cells.get(i) != 0; });
}

// Returns whether any cell changed.
template <typename Cells>
bool add_key(const Geometry& geometry, const Hash& hash, Cells&& cells) {
  bool changed = false;
  geometry.for_each_cell(hash, [&](std::uint64_t i) { changed |= cells.add(i); });
  return changed;
}

// Takes one occurrence out. Returns false, with nothing changed, when the key is certainly absent.
template <typename Cells>
bool remove_key(const Geometry& geometry, const Hash& hash, Cells&& cells) {
  std::uint32_t removed = 0;
  const bool present = geometry.all_cells(hash, [&](std::uint64_t i) {
    const bool counted = cells.remove(i);
    removed += counted ? 1 : 0;
    return counted;
  });
  if (!present) {
    // Adding undoes each removal: a counter that was stuck was not changed by either.
    geometry.all_cells(hash, [&](std::uint64_t i) {
      if (removed == 0) {
        return false;
      }
      --removed;
      cells.add(i);
      return true;
    });
  }
  return present;
}

}  // namespace bloom
