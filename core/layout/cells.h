// Arrays of cells. A cell is one bit, or a 4-bit counter that saturates at 15.
//
// Bit i is bit i % 8 of byte i / 8. Counter i is in byte i / 2: the low half if i is even, the high
// half if i is odd. A saturated counter no longer knows its count, so it is never decremented.
// Removals can therefore leave false positives, but they never clear a cell of a key that is still
// in the filter.
#pragma once

#include <algorithm>
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

// The same bits in an array of whole 32-bit words. Word access takes fewer instructions per test.
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
  // Returns whether the cell changed. A saturated counter does not change.
  static bool add(std::uint8_t* cells, std::uint64_t i) {
    if (get(cells, i) == kSaturated) {
      return false;
    }
    cells[i / 2] = static_cast<std::uint8_t>(cells[i / 2] + (1U << shift(i)));
    return true;
  }
  // Returns false and changes nothing if the cell is 0. A saturated counter does not change.
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

inline unsigned get_cell(Kind kind, const std::uint8_t* cells, std::uint64_t i) {
  return kind == Kind::counting ? Counters::get(cells, i) : Bits::get(cells, i);
}

// Returns 1 if cell i is not 0, else 0.
template <typename Cell>
unsigned is_set(const std::uint8_t* cells, std::uint64_t i) {
  if constexpr (Cell::kPerByte == 8) {
    return Cell::get(cells, i);
  } else {
    return Cell::get(cells, i) == 0 ? 0 : 1;
  }
}

// The cells of an array, renumbered so that cell `first` becomes cell 0. This is the `Cells` class
// that core/filter/key_cells.h expects.
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

// Requires: `first` is a multiple of 32.
template <typename Byte>
class CellsFrom<WordBits, Byte> {
 public:
  CellsFrom(Byte* cells, std::uint64_t first) : cells_(cells + first / 8) {}

  unsigned is_set(std::uint64_t i) const { return WordBits::get(cells_, i); }
  bool add(std::uint64_t i) const { return WordBits::add(cells_, i); }

 private:
  Byte* cells_;
};

// Divides an array into parts of `size` cells, and splits the run of cells first..first+count-1 at
// the borders of these parts. Calls f(part, begin, n) for each piece of the run, in order. Its
// cells are begin..begin+n-1, all in part number `part` (begin / size).
template <typename F>
void for_each_part(std::uint64_t first, std::uint64_t count, std::uint64_t size, F&& f) {
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t part = first / size;
    const std::uint64_t n = std::min(end, (part + 1) * size) - first;
    f(part, first, n);
    first += n;
  }
}

// Operations on whole arrays. `kind` determines whether a cell is a bit or a counter.

// Merge each cell of `from` into the cell of `to` with the same index, for arrays of `bytes` bytes.
// Bits: OR for the union, AND for the intersection. Counters: the sum, saturated at 15, for the
// union; the smaller one for the intersection.
void union_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes);
void intersect_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes);

// Sets bit i of `to` for every counter i < cells that is not 0. Requires: `to` is zeroed.
void counters_to_bits(std::uint8_t* to, const std::uint8_t* counters, std::uint64_t cells);

// Returns how many of the cells first..first+count-1 are not 0.
std::uint64_t count_nonzero(Kind kind, const std::uint8_t* cells, std::uint64_t first,
                            std::uint64_t count);

// Look at the counters first..first+count-1. count_saturated() returns how many of them are
// saturated, and sum_counters() the sum of all of them.
std::uint64_t count_saturated(const std::uint8_t* counters, std::uint64_t first,
                              std::uint64_t count);
std::uint64_t sum_counters(const std::uint8_t* counters, std::uint64_t first, std::uint64_t count);

}  // namespace bloom
