// Arrays of cells: one bit each, or a counter of four bits that sticks at 15.
//
// Bit i is bit i % 8 of byte i / 8; counter i is the low (even i) or high (odd i) half of byte
// i / 2. A counter that reached 15 has lost count and is never decremented again, so a removal can
// leave a false positive but never take a cell from a key that is still there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/shape.h"
#include "core/support/bytes.h"

namespace bloom {

struct Bits {
  static constexpr unsigned kPerByte = 8;

  static unsigned get(const std::uint8_t* cells, std::uint64_t i) {
    return (cells[i / 8] >> (i % 8)) & 1U;
  }
  // Returns whether the cell changed.
  static bool add(std::uint8_t* cells, std::uint64_t i) {
    const auto bit = static_cast<std::uint8_t>(1U << (i % 8));
    const bool changed = (cells[i / 8] & bit) == 0;
    cells[i / 8] |= bit;
    return changed;
  }
};

// The same bits for arrays of whole 32-bit words, which are tested with fewer instructions.
struct WordBits {
  static constexpr unsigned kPerByte = 8;

  static unsigned get(const std::uint8_t* cells, std::uint64_t i) {
    return (load_le<std::uint32_t>(cells + i / 32 * 4) >> (i % 32)) & 1U;
  }
  static bool add(std::uint8_t* cells, std::uint64_t i) {
    const auto word = load_le<std::uint32_t>(cells + i / 32 * 4);
    const std::uint32_t with = word | std::uint32_t{1} << (i % 32);
    store_le(cells + i / 32 * 4, with);
    return with != word;
  }
};

struct Counters {
  static constexpr unsigned kPerByte = 2;
  static constexpr unsigned kSaturated = 15;

  static unsigned get(const std::uint8_t* cells, std::uint64_t i) {
    return (cells[i / 2] >> shift(i)) & 15U;
  }
  // Returns whether the cell changed: a stuck one does not.
  static bool add(std::uint8_t* cells, std::uint64_t i) {
    if (get(cells, i) == kSaturated) {
      return false;
    }
    cells[i / 2] = static_cast<std::uint8_t>(cells[i / 2] + (1U << shift(i)));
    return true;
  }
  // Returns false, with nothing changed, for a cell that is 0.
  static bool remove(std::uint8_t* cells, std::uint64_t i) {
    const unsigned count = get(cells, i);
    if (count != 0 && count != kSaturated) {
      cells[i / 2] = static_cast<std::uint8_t>(cells[i / 2] - (1U << shift(i)));
    }
    return count != 0;
  }

 private:
  static unsigned shift(std::uint64_t i) { return 4U * static_cast<unsigned>(i % 2); }
};

template <typename Cell>
unsigned is_set(const std::uint8_t* cells, std::uint64_t i) {
  if constexpr (Cell::kPerByte == 8) {
    return Cell::get(cells, i);
  } else {
    return Cell::get(cells, i) == 0 ? 0 : 1;
  }
}

// The cells of an array from cell `first` on, as core/filter/key_cells.h wants them.
template <typename Cell, typename Byte>
class CellsFrom {
 public:
  CellsFrom(Byte* cells, std::uint64_t first) : cells_(cells), first_(first) {}

  unsigned is_set(std::uint64_t i) const { return bloom::is_set<Cell>(cells_, first_ + i); }
  bool add(std::uint64_t i) const { return Cell::add(cells_, first_ + i); }
  bool remove(std::uint64_t i) const { return Cell::remove(cells_, first_ + i); }

 private:
  Byte* cells_;
  std::uint64_t first_;
};

// REQUIRES: `first` is a multiple of 32.
template <typename Byte>
class CellsFrom<WordBits, Byte> {
 public:
  CellsFrom(Byte* cells, std::uint64_t first) : cells_(cells + first / 8) {}

  unsigned is_set(std::uint64_t i) const { return WordBits::get(cells_, i); }
  bool add(std::uint64_t i) const { return WordBits::add(cells_, i); }

 private:
  Byte* cells_;
};

// Whole arrays. Every function takes the kind that says what a cell is.

// to[i] = to[i] merged with from[i], for every cell of `bytes` bytes. Bits: or / and. Counters: the
// sum, stuck at 15 / the smaller.
void union_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes);
void intersect_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes);

// Sets bit i of zeroed `to` for every counter i of `cells` that is not 0.
void bits_of_counters(std::uint8_t* to, const std::uint8_t* counters, std::uint64_t cells);

// Cells first..first+count-1 that are not 0.
std::uint64_t count_nonzero(Kind kind, const std::uint8_t* cells, std::uint64_t first,
                            std::uint64_t count);

// Of counters first..first+count-1: how many are stuck; what they add up to.
std::uint64_t count_saturated(const std::uint8_t* counters, std::uint64_t first,
                              std::uint64_t count);
std::uint64_t sum_counters(const std::uint8_t* counters, std::uint64_t first, std::uint64_t count);

}  // namespace bloom
