// Lookup, insertion and removal of one key in its k cells. The cells are in one array
// (core/filter/array_filter.h) or in chunks that are loaded on demand (core/filter/chunked.h).
//
// `Sequence` generates the positions of the cells, relative to the first cell of the key's block:
// see ProbeSequence in core/layout/geometry.h. `Cells` is a class with
//   unsigned is_set(std::uint64_t i);  // returns 1 if cell i is not 0, else 0
//   bool add(std::uint64_t i);         // returns whether the cell changed
//   bool remove(std::uint64_t i);      // counters: returns false, no change, if the cell is 0
//
// insert_key() and may_contain_key_by_fours() are forced inline: otherwise GCC emits a call and
// keeps the probe sequence in memory, which is 50 % slower.
#pragma once

#include <cstdint>

namespace bloom {

// Returns false if the key was certainly not added, true if it may have been. Tests the cells one
// at a time and stops at the first 0.
template <typename Sequence, typename Cells>
bool may_contain_key(std::uint32_t hashes, Sequence sequence, Cells&& cells) {
  for (; hashes > 0; --hashes) {
    if (cells.is_set(sequence.next()) == 0) {
      return false;
    }
  }
  return true;
}

// The same for cells in memory, four at a time. Testing three more cells is cheaper than a
// mispredicted branch, which every second lookup of an absent key causes (bench/core.cc).
template <typename Sequence, typename Cells>
[[gnu::always_inline]] inline bool may_contain_key_by_fours(std::uint32_t hashes, Sequence sequence,
                                                            const Cells& cells) {
  const auto next = [&] { return cells.is_set(sequence.next()); };
  for (; hashes >= 4; hashes -= 4) {
    unsigned set = next();
    set &= next();
    set &= next();
    set &= next();
    if (set == 0) {
      return false;
    }
  }
  unsigned set = 1;
  for (; hashes > 0; --hashes) {
    set &= next();
  }
  return set != 0;
}

// Adds the key. Returns whether any cell changed.
template <typename Sequence, typename Cells>
[[gnu::always_inline]] inline bool insert_key(std::uint32_t hashes, Sequence sequence,
                                              Cells&& cells) {
  bool changed = false;
  for (; hashes > 0; --hashes) {
    changed |= cells.add(sequence.next());
  }
  return changed;
}

// Removes one occurrence of the key. Returns false and changes nothing if the key is certainly
// absent.
template <typename Sequence, typename Cells>
bool remove_key(std::uint32_t hashes, const Sequence& sequence, Cells&& cells) {
  Sequence forward = sequence;
  for (std::uint32_t removed = 0; removed < hashes; ++removed) {
    if (!cells.remove(forward.next())) {
      // Undo the removals so far. Saturated counters are changed by neither remove() nor add().
      for (Sequence again = sequence; removed > 0; --removed) {
        cells.add(again.next());
      }
      return false;
    }
  }
  return true;
}

}  // namespace bloom
