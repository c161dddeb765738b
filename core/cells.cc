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
Word used_nibbles(Word x) { return (x | (x >> 1) | (x >> 2) | (x >> 3)) & kEachNibble; }
Word stuck_nibbles(Word x) { return x & (x >> 1) & (x >> 2) & (x >> 3) & kEachNibble; }

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

void fold_neighbours(const Shape& shape, std::uint8_t* to, const std::uint8_t* from) {
  const bool counting = shape.kind == Kind::counting;
  const std::uint64_t words = cell_bytes(shape) / sizeof(Word);
  for (std::uint64_t w = 0; w < words; ++w) {
    const Word x = load_le<Word>(from + w * sizeof(Word));
    const Word folded = counting ? fold_counters(x) : fold_bits(x);
    store_le(to + w * sizeof(Word) / 2, static_cast<std::uint32_t>(folded));
  }
  const std::uint64_t cells_per_word = 64 / bits_per_cell(shape.kind);
  for (std::uint64_t i = words * cells_per_word; i < shape.cells; ++i) {
    add_cell(shape.kind, to, i / 2, get_cell(shape.kind, from, i));
  }
}

void fold_blocks(const Shape& shape, std::uint8_t* to, const std::uint8_t* from) {
  const std::uint64_t block_bits = shape.block * bits_per_cell(shape.kind);
  if (block_bits % 8 == 0) {
    const std::uint64_t bytes = block_bits / 8;
    for (std::uint64_t i = 0; i < shape.blocks() / 2; ++i) {
      std::memcpy(to + i * bytes, from + 2 * i * bytes, bytes);
      unite_cells(shape.kind, to + i * bytes, from + (2 * i + 1) * bytes, bytes);
    }
    return;
  }
  for (std::uint64_t i = 0; i < shape.cells; ++i) {
    const std::uint64_t target = i / shape.block / 2 * shape.block + i % shape.block;
    add_cell(shape.kind, to, target, get_cell(shape.kind, from, i));
  }
}

}  // namespace

void unite_cells(Kind kind, std::uint8_t* to, const std::uint8_t* from, std::uint64_t bytes) {
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

void fold_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from) {
  if (fold_of(shape) == Fold::blocks) {
    fold_blocks(shape, to, from);
  } else {
    fold_neighbours(shape, to, from);
  }
}

void bits_of_counters(std::uint8_t* to, const std::uint8_t* counters, std::uint64_t cells) {
  for (std::uint64_t i = 0; i < cells; ++i) {
    if (Counters::get(counters, i) != 0) {
      Bits::add(to, i);
    }
  }
}

std::uint64_t count_used(Kind kind, const std::uint8_t* cells, std::uint64_t first,
                         std::uint64_t count) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  const std::uint64_t end = first + count;
  std::uint64_t used = 0;
  std::uint64_t i = first;
  for (; i < end && i % per_byte != 0; ++i) {
    used += get_cell(kind, cells, i) != 0 ? 1 : 0;
  }
  for (; i + per_byte * sizeof(Word) <= end; i += per_byte * sizeof(Word)) {
    const Word x = load_le<Word>(cells + i / per_byte);
    used += static_cast<unsigned>(std::popcount(kind == Kind::counting ? used_nibbles(x) : x));
  }
  for (; i < end; ++i) {
    used += get_cell(kind, cells, i) != 0 ? 1 : 0;
  }
  return used;
}

std::uint64_t count_stuck(const std::uint8_t* counters, std::uint64_t count) {
  constexpr std::uint64_t kPerWord = 2 * sizeof(Word);
  std::uint64_t stuck = 0;
  std::uint64_t i = 0;
  for (; i + kPerWord <= count; i += kPerWord) {
    const Word x = load_le<Word>(counters + i / 2);
    stuck += static_cast<unsigned>(std::popcount(stuck_nibbles(x)));
  }
  for (; i < count; ++i) {
    stuck += Counters::get(counters, i) == Counters::kStuck ? 1 : 0;
  }
  return stuck;
}

}  // namespace bloom
