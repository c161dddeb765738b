// What is done to the k cells of a key, whoever keeps the cells: one array (core/probe.h), or chunks
// that come and go (core/chunked.h).
//
// Cells is a class with
//   unsigned get(std::uint64_t i);  // what is in cell i
//   bool add(std::uint64_t i);      // whether the cell changed
//   bool remove(std::uint64_t i);   // counters: false, with nothing changed, if the cell is 0
#pragma once

#include <cstdint>

#include "core/geometry.h"

namespace bloom {

// False: certainly not added. True: maybe. Looks at the cells one by one, up to the first that is 0.
template <typename Cells>
bool may_contain_key(std::uint32_t hashes, Geometry::Walk walk, Cells&& cells) {
  for (; hashes > 0; --hashes) {
    if (cells.get(walk.next()) == 0) {
      return false;
    }
  }
  return true;
}

// The same for cells at hand, by fours: a look at another cell costs less there than a branch that
// was foretold wrongly, as it is for every other absent key (bench/core.cc).
template <typename Cells>
bool may_contain_key_at_hand(std::uint32_t hashes, Geometry::Walk walk, const Cells& cells) {
  const auto next_is_used = [&] { return static_cast<unsigned>(cells.get(walk.next()) != 0); };
  for (; hashes >= 4; hashes -= 4) {
    unsigned used = next_is_used();
    used &= next_is_used();
    used &= next_is_used();
    used &= next_is_used();
    if (used == 0) {
      return false;
    }
  }
  unsigned used = 1;
  for (; hashes > 0; --hashes) {
    used &= next_is_used();
  }
  return used != 0;
}

// Returns whether any cell changed.
template <typename Cells>
bool add_key(std::uint32_t hashes, Geometry::Walk walk, Cells&& cells) {
  bool changed = false;
  for (; hashes > 0; --hashes) {
    changed |= cells.add(walk.next());
  }
  return changed;
}

// Takes one occurrence out. Returns false, with nothing changed, when the key is certainly absent.
template <typename Cells>
bool remove_key(std::uint32_t hashes, const Geometry::Walk& walk, Cells&& cells) {
  Geometry::Walk there = walk;
  for (std::uint32_t removed = 0; removed < hashes; ++removed) {
    if (!cells.remove(there.next())) {
      // Adding undoes each removal: a counter that was stuck was not changed by either.
      for (Geometry::Walk back = walk; removed > 0; --removed) {
        cells.add(back.next());
      }
      return false;
    }
  }
  return true;
}

}  // namespace bloom
