// What is done to the k cells of a key, whoever keeps the cells: one array (core/probe.h), or
// chunks that come and go (core/chunked.h).
//
// Walk gives their places, counted from the first cell of the block: see Geometry.
// Cells is a class with
//   unsigned is_used(std::uint64_t i);  // 0 if cell i is, else 1
//   bool add(std::uint64_t i);          // whether the cell changed
//   bool remove(std::uint64_t i);       // counters: false, with nothing changed, if the cell is 0
// What is always inlined GCC would else call, with the walk in memory: half as slow again.
#pragma once

#include <cstdint>

namespace bloom {

// False: certainly not added. True: maybe. Looks at one cell after another, up to the first 0.
template <typename Walk, typename Cells>
bool may_contain_key(std::uint32_t hashes, Walk walk, Cells&& cells) {
  for (; hashes > 0; --hashes) {
    if (cells.is_used(walk.next()) == 0) {
      return false;
    }
  }
  return true;
}

// The same for cells at hand, by fours: a look at another cell costs less there than a branch that
// was foretold wrongly, as it is for every other absent key (bench/core.cc).
template <typename Walk, typename Cells>
[[gnu::always_inline]] inline bool may_contain_key_at_hand(std::uint32_t hashes, Walk walk,
                                                           const Cells& cells) {
  const auto next = [&] { return cells.is_used(walk.next()); };
  for (; hashes >= 4; hashes -= 4) {
    unsigned used = next();
    used &= next();
    used &= next();
    used &= next();
    if (used == 0) {
      return false;
    }
  }
  unsigned used = 1;
  for (; hashes > 0; --hashes) {
    used &= next();
  }
  return used != 0;
}

// Returns whether any cell changed.
template <typename Walk, typename Cells>
[[gnu::always_inline]] inline bool add_key(std::uint32_t hashes, Walk walk, Cells&& cells) {
  bool changed = false;
  for (; hashes > 0; --hashes) {
    changed |= cells.add(walk.next());
  }
  return changed;
}

// Takes one occurrence out. Returns false, with nothing changed, when the key is certainly absent.
template <typename Walk, typename Cells>
bool remove_key(std::uint32_t hashes, const Walk& walk, Cells&& cells) {
  Walk there = walk;
  for (std::uint32_t removed = 0; removed < hashes; ++removed) {
    if (!cells.remove(there.next())) {
      // Adding undoes each removal: a counter that was stuck was not changed by either.
      for (Walk back = walk; removed > 0; --removed) {
        cells.add(back.next());
      }
      return false;
    }
  }
  return true;
}

}  // namespace bloom
