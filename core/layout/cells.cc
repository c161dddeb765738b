#include "core/layout/cells.h"

#include <bit>
#include <cassert>
#include <cstring>

#include "core/layout/nibbles.h"
#include "core/layout/shape.h"
#include "core/support/bytes.h"
#include "core/support/cpu.h"

namespace bloom {
namespace {

CounterWord add_nibbles(CounterWord a, CounterWord b) {
  const CounterWord low = saturate((a & kLowNibbles) + (b & kLowNibbles));
  const CounterWord high = saturate(((a >> 4) & kLowNibbles) + ((b >> 4) & kLowNibbles));
  return low | (high << 4);
}

// Returns the smaller of a and b in each byte lane. Requires: each byte holds one counter (0..15).
CounterWord smaller_lane(CounterWord a, CounterWord b) {
  assert(((a | b) & ~kLowNibbles) == 0);
  const CounterWord a_not_less = (((a | (kEachByte << 4)) - b) >> 4) & kEachByte;
  const CounterWord take_b = a_not_less * 0x0f;
  return (b & take_b) | (a & ~take_b);
}

CounterWord smaller_nibbles(CounterWord a, CounterWord b) {
  const CounterWord low = smaller_lane(a & kLowNibbles, b & kLowNibbles);
  const CounterWord high = smaller_lane((a >> 4) & kLowNibbles, (b >> 4) & kLowNibbles);
  return low | (high << 4);
}

// Returns a word whose lowest bit in each nibble says whether that counter is not 0.
CounterWord nonzero_nibbles(CounterWord x) {
  return (x | (x >> 1) | (x >> 2) | (x >> 3)) & kEachNibble;
}
// Returns a word whose lowest bit in each nibble says whether that counter is saturated.
CounterWord saturated_nibbles(CounterWord x) {
  return x & (x >> 1) & (x >> 2) & (x >> 3) & kEachNibble;
}

std::uint64_t sum_nibbles(CounterWord x) {
  const CounterWord pairs =
      (x & kLowNibbles) + ((x >> 4) & kLowNibbles);  // at most 30 in each byte
  return (pairs * kEachByte) >> 56;                  // at most 240
}

// Sets `to` to op(to, from), word by word. `op` treats every byte independently, so the byte order
// of a word does not matter.
template <typename Op>
void combine(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes, Op op) {
  std::uint64_t i = 0;
  for (; i + sizeof(CounterWord) <= bytes; i += sizeof(CounterWord)) {
    CounterWord a = 0;
    CounterWord b = 0;
    std::memcpy(&a, to + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a = op(a, b);
    std::memcpy(to + i, &a, sizeof a);
  }
  for (; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(op(to[i], from[i]));
  }
}

// Returns the sum of of_cell(value of cell i) for i in first..first+count-1. of_word() returns the
// sum over all cells of one word.
template <typename OfCell, typename OfWord>
[[gnu::always_inline]] inline std::uint64_t sum_over(Kind kind, const std::uint8_t* cells,
                                                     std::uint64_t first, std::uint64_t count,
                                                     OfCell of_cell, OfWord of_word) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  const std::uint64_t end = first + count;
  std::uint64_t sum = 0;
  std::uint64_t i = first;
  for (; i < end && i % per_byte != 0; ++i) {
    sum += static_cast<std::uint64_t>(of_cell(get_cell(kind, cells, i)));
  }
  for (; i + per_byte * sizeof(CounterWord) <= end; i += per_byte * sizeof(CounterWord)) {
    sum += static_cast<std::uint64_t>(of_word(load_le<CounterWord>(cells + i / per_byte)));
  }
  for (; i < end; ++i) {
    sum += static_cast<std::uint64_t>(of_cell(get_cell(kind, cells, i)));
  }
  return sum;
}

[[gnu::always_inline]] inline std::uint64_t count_nonzero_in(Kind kind, const std::uint8_t* cells,
                                                             std::uint64_t first,
                                                             std::uint64_t count) {
  if (kind == Kind::counting) {
    return sum_over(
        kind, cells, first, count, [](unsigned cell) { return cell != 0; },
        [](CounterWord x) { return std::popcount(nonzero_nibbles(x)); });
  }
  return sum_over(
      kind, cells, first, count, [](unsigned cell) { return cell; },
      [](CounterWord x) { return std::popcount(x); });
}

#if defined(__x86_64__) && defined(__GNUC__)
// The same with the POPCNT instruction, which the oldest x86-64 processors lack.
[[gnu::target("popcnt")]] std::uint64_t count_nonzero_popcnt(Kind kind, const std::uint8_t* cells,
                                                             std::uint64_t first,
                                                             std::uint64_t count) {
  return count_nonzero_in(kind, cells, first, count);
}
#endif

}  // namespace

void union_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  if (kind == Kind::counting) {
    combine(to, from, bytes, add_nibbles);
  } else {
    combine(to, from, bytes, [](CounterWord a, CounterWord b) { return a | b; });
  }
}

void intersect_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  if (kind == Kind::counting) {
    combine(to, from, bytes, smaller_nibbles);
  } else {
    combine(to, from, bytes, [](CounterWord a, CounterWord b) { return a & b; });
  }
}

void counters_to_bits(std::uint8_t* to, const std::uint8_t* counters, std::uint64_t cells) {
  for (std::uint64_t i = 0; i < cells; ++i) {
    if (Counters::get(counters, i) != 0) {
      Bits::add(to, i);
    }
  }
}

std::uint64_t count_nonzero(Kind kind, const std::uint8_t* cells, std::uint64_t first,
                            std::uint64_t count) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (cpu_features().popcnt) {
    return count_nonzero_popcnt(kind, cells, first, count);
  }
#endif
  return count_nonzero_in(kind, cells, first, count);
}

std::uint64_t count_saturated(const std::uint8_t* counters, std::uint64_t first,
                              std::uint64_t count) {
  return sum_over(
      Kind::counting, counters, first, count,
      [](unsigned cell) { return cell == Counters::kSaturated; },
      [](CounterWord x) { return std::popcount(saturated_nibbles(x)); });
}

std::uint64_t sum_counters(const std::uint8_t* counters, std::uint64_t first, std::uint64_t count) {
  return sum_over(
      Kind::counting, counters, first, count, [](unsigned cell) { return cell; }, sum_nibbles);
}

}  // namespace bloom
