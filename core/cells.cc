#include "core/cells.h"

#include <bit>
#include <cstring>

#include "core/bytes.h"
#include "core/format.h"

namespace bloom {
namespace {

using Word = std::uint64_t;

constexpr Word kEachByte = 0x0101010101010101;
constexpr Word kLowNibbles = 0x0f * kEachByte;
constexpr Word kEachNibble = 0x1111111111111111;

// Byte lanes that hold sums of two counters: those over 15 become 15.
Word stick(Word sums) {
  const Word over = (sums >> 4) & kEachByte;
  return (sums | (over * 0x0f)) & kLowNibbles;
}

Word add_nibbles(Word a, Word b) {
  const Word low = stick((a & kLowNibbles) + (b & kLowNibbles));
  const Word high = stick(((a >> 4) & kLowNibbles) + ((b >> 4) & kLowNibbles));
  return low | (high << 4);
}

// Byte lanes that hold one counter each.
Word smaller_lane(Word a, Word b) {
  const Word a_not_less = (((a | (kEachByte << 4)) - b) >> 4) & kEachByte;
  const Word take_b = a_not_less * 0x0f;
  return (b & take_b) | (a & ~take_b);
}

Word smaller_nibbles(Word a, Word b) {
  const Word low = smaller_lane(a & kLowNibbles, b & kLowNibbles);
  const Word high = smaller_lane((a >> 4) & kLowNibbles, (b >> 4) & kLowNibbles);
  return low | (high << 4);
}

// One bit for each counter that is not 0, in its lowest place.
Word nonzero_nibbles(Word x) { return (x | (x >> 1) | (x >> 2) | (x >> 3)) & kEachNibble; }
Word saturated_nibbles(Word x) { return x & (x >> 1) & (x >> 2) & (x >> 3) & kEachNibble; }

std::uint64_t sum_nibbles(Word x) {
  const Word pairs = (x & kLowNibbles) + ((x >> 4) & kLowNibbles);  // at most 30 in each byte
  return (pairs * kEachByte) >> 56;                                 // at most 240
}

// Brings the low nibbles of eight bytes together in the low half.
Word pack_nibbles(Word x) {
  x = (x | (x >> 4)) & 0x00ff00ff00ff00ff;
  x = (x | (x >> 8)) & 0x0000ffff0000ffff;
  return (x | (x >> 16)) & 0x00000000ffffffff;
}

// Neighbouring cells of a word merged; the result is in the low half.
Word fold_bits(Word x) {
  x = (x | (x >> 1)) & 0x5555555555555555;
  x = (x | (x >> 1)) & 0x3333333333333333;
  x = (x | (x >> 2)) & kLowNibbles;
  return pack_nibbles(x);
}

Word fold_counters(Word x) {
  return pack_nibbles(stick((x & kLowNibbles) + ((x >> 4) & kLowNibbles)));
}

// op works on each byte by itself, so the order of bytes in a word does not matter here.
template <typename Op>
void combine(std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes, Op op) {
  std::uint64_t i = 0;
  for (; i + sizeof(Word) <= bytes; i += sizeof(Word)) {
    Word a = 0;
    Word b = 0;
    std::memcpy(&a, to + i, sizeof a);
    std::memcpy(&b, from + i, sizeof b);
    a = op(a, b);
    std::memcpy(to + i, &a, sizeof a);
  }
  for (; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(op(to[i], from[i]));
  }
}

void add_cell(Kind kind, std::uint8_t* cells, std::uint64_t i, unsigned times) {
  for (; times > 0; --times) {
    kind == Kind::counting ? Counters::add(cells, i) : Bits::add(cells, i);
  }
}

unsigned get_cell(Kind kind, const std::uint8_t* cells, std::uint64_t i) {
  return kind == Kind::counting ? Counters::get(cells, i) : Bits::get(cells, i);
}

// Cells first..first+count-1 of `from` go to cell `to_first` of `to` and those after it, each to
// one of its own.
void union_run(Kind kind, std::uint8_t* to, std::uint64_t to_first, const std::uint8_t* from,
               std::uint64_t first, std::uint64_t count) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  if (to_first % per_byte == 0 && first % per_byte == 0 && count % per_byte == 0) {
    union_cells(kind, to + to_first / per_byte, from + first / per_byte, count / per_byte);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    add_cell(kind, to, to_first + i, get_cell(kind, from, first + i));
  }
}

// The same, but two and two go to one. REQUIRES: cell `first` starts a byte, as does `to_first`.
void fold_run(Kind kind, std::uint8_t* to, std::uint64_t to_first, const std::uint8_t* from,
              std::uint64_t first, std::uint64_t count) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  to += to_first / per_byte;
  from += first / per_byte;
  const std::uint64_t words = count / per_byte / sizeof(Word);
  for (std::uint64_t w = 0; w < words; ++w) {
    const Word x = load_le<Word>(from + w * sizeof(Word));
    const Word folded = kind == Kind::counting ? fold_counters(x) : fold_bits(x);
    store_le(to + w * sizeof(Word) / 2, static_cast<std::uint32_t>(folded));
  }
  for (std::uint64_t i = words * per_byte * sizeof(Word); i < count; ++i) {
    add_cell(kind, to, i / 2, get_cell(kind, from, i));
  }
}

// The sum over cells first..first+count-1 of of_cell(what is in it); of_word() does a word of them.
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
  for (; i + per_byte * sizeof(Word) <= end; i += per_byte * sizeof(Word)) {
    sum += static_cast<std::uint64_t>(of_word(load_le<Word>(cells + i / per_byte)));
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
        [](Word x) { return std::popcount(nonzero_nibbles(x)); });
  }
  return sum_over(
      kind, cells, first, count, [](unsigned cell) { return cell; },
      [](Word x) { return std::popcount(x); });
}

#if defined(__x86_64__) && defined(__GNUC__)
// With the instruction for it, which the oldest x86-64 processors lack.
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
    combine(to, from, bytes, [](Word a, Word b) { return a | b; });
  }
}

void intersect_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
  if (kind == Kind::counting) {
    combine(to, from, bytes, smaller_nibbles);
  } else {
    combine(to, from, bytes, [](Word a, Word b) { return a & b; });
  }
}

void fold_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from, std::uint64_t first,
                std::uint64_t count) {
  for_each_fold_run(shape, first, first + count, [&](const FoldRun& run) {
    halve_run(shape, to, run.to, from, run.first, run.count);
  });
}

void halve_run(const Shape& shape, std::uint8_t* to, std::uint64_t to_first,
               const std::uint8_t* from, std::uint64_t first, std::uint64_t count) {
  if (fold_of(shape) == Fold::blocks) {
    union_run(shape.kind, to, to_first, from, first, count);
  } else {
    fold_run(shape.kind, to, to_first, from, first, count);
  }
}

void bits_of_counters(std::uint8_t* to, const std::uint8_t* counters, std::uint64_t cells) {
  for (std::uint64_t i = 0; i < cells; ++i) {
    if (Counters::get(counters, i) != 0) {
      Bits::add(to, i);
    }
  }
}

std::uint64_t count_nonzero(Kind kind, const std::uint8_t* cells, std::uint64_t first,
                            std::uint64_t count) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("popcnt")) {
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
      [](Word x) { return std::popcount(saturated_nibbles(x)); });
}

std::uint64_t sum_counters(const std::uint8_t* counters, std::uint64_t first, std::uint64_t count) {
  return sum_over(
      Kind::counting, counters, first, count, [](unsigned cell) { return cell; }, sum_nibbles);
}

}  // namespace bloom
