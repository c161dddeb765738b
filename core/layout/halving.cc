#include "core/layout/halving.h"

#include <cassert>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/nibbles.h"
#include "core/layout/shape.h"
#include "core/support/bytes.h"

namespace bloom {
namespace {

// Moves the low nibbles of the eight bytes into the low 32 bits.
CounterWord pack_nibbles(CounterWord x) {
  x = (x | (x >> 4)) & 0x00ff00ff00ff00ff;
  x = (x | (x >> 8)) & 0x0000ffff0000ffff;
  return (x | (x >> 16)) & 0x00000000ffffffff;
}

// Merges each pair of neighbouring bits of x with OR. The result is in the low 32 bits.
CounterWord merge_bit_pairs(CounterWord x) {
  x = (x | (x >> 1)) & 0x5555555555555555;
  x = (x | (x >> 1)) & 0x3333333333333333;
  x = (x | (x >> 2)) & kLowNibbles;
  return pack_nibbles(x);
}

// Adds each pair of neighbouring counters of x. The result is in the low 32 bits.
CounterWord add_counter_pairs(CounterWord x) {
  return pack_nibbles(saturate((x & kLowNibbles) + ((x >> 4) & kLowNibbles)));
}

// Moves the nibbles of the low 32 bits into the low nibbles of the eight bytes.
CounterWord unpack_nibbles(CounterWord x) {
  x = (x | (x << 16)) & 0x0000ffff0000ffff;
  x = (x | (x << 8)) & 0x00ff00ff00ff00ff;
  return (x | (x << 4)) & kLowNibbles;
}

// Writes each of the low 32 bits of x twice.
CounterWord double_bits(CounterWord x) {
  x = unpack_nibbles(x);
  x = (x | (x << 2)) & 0x3333333333333333;
  x = (x | (x << 1)) & 0x5555555555555555;
  return x | (x << 1);
}

// Writes each of the eight low counters of x twice.
CounterWord double_counters(CounterWord x) {
  x = unpack_nibbles(x);
  return x | (x << 4);
}

void add_cell(Kind kind, std::uint8_t* cells, std::uint64_t i, unsigned times) {
  for (; times > 0; --times) {
    kind == Kind::counting ? Counters::add(cells, i) : Bits::add(cells, i);
  }
}

// Merges cells first..first+count-1 of `from` into cells to_first..to_first+count-1 of `to`, one to
// one.
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

// Merges pairs of cells: cells first + 2i and first + 2i + 1 of `from` into cell to_first + i of
// `to`. `count` counts the cells of `from`. Requires: `first` and `to_first` are at byte
// boundaries.
void merge_pairs(Kind kind, std::uint8_t* to, std::uint64_t to_first, const std::uint8_t* from,
                 std::uint64_t first, std::uint64_t count) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  assert(first % per_byte == 0 && to_first % per_byte == 0);
  to += to_first / per_byte;
  from += first / per_byte;
  const std::uint64_t words = count / per_byte / sizeof(CounterWord);
  for (std::uint64_t w = 0; w < words; ++w) {
    const auto x = load_le<CounterWord>(from + w * sizeof(CounterWord));
    const CounterWord merged = kind == Kind::counting ? add_counter_pairs(x) : merge_bit_pairs(x);
    store_le(to + w * sizeof(CounterWord) / 2, static_cast<std::uint32_t>(merged));
  }
  for (std::uint64_t i = words * per_byte * sizeof(CounterWord); i < count; ++i) {
    add_cell(kind, to, i / 2, get_cell(kind, from, i));
  }
}

// The inverse of merge_pairs(): copies cell from_first + i of `from` into cells first + 2i and
// first + 2i + 1 of `to`. `count` counts the cells of `to`. Requires: `first` and `from_first` are
// at byte boundaries, and `to` is zeroed.
void split_pairs(Kind kind, std::uint8_t* to, std::uint64_t first, const std::uint8_t* from,
                 std::uint64_t from_first, std::uint64_t count) {
  const std::uint64_t per_byte = 8 / bits_per_cell(kind);
  assert(first % per_byte == 0 && from_first % per_byte == 0);
  to += first / per_byte;
  from += from_first / per_byte;
  const std::uint64_t words = count / per_byte / sizeof(CounterWord);
  for (std::uint64_t w = 0; w < words; ++w) {
    const CounterWord x = load_le<std::uint32_t>(from + w * sizeof(CounterWord) / 2);
    store_le(to + w * sizeof(CounterWord),
             kind == Kind::counting ? double_counters(x) : double_bits(x));
  }
  for (std::uint64_t i = words * per_byte * sizeof(CounterWord); i < count; ++i) {
    add_cell(kind, to, i, get_cell(kind, from, i / 2));
  }
}

}  // namespace

HalvingMethod halving_method(const Shape& shape) {
  if (shape.blocks() % 2 == 0) {
    return HalvingMethod::merge_blocks;
  }
  return shape.probe_range() % 2 == 0 ? HalvingMethod::merge_cells : HalvingMethod::none;
}

Shape halved(const Shape& shape) {
  assert(is_halvable(shape));
  Shape half = shape;
  half.cells /= 2;
  if (halving_method(shape) == HalvingMethod::merge_cells) {
    half.block /= 2;
  }
  return half;
}

void halve_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from,
                 std::uint64_t first, std::uint64_t count) {
  assert(first * bits_per_cell(shape.kind) % 8 == 0);
  for_each_halving_run(shape, first, first + count, [&](const HalvingRun& run) {
    halve_run(shape, to, run.to, from, run.first, run.count);
  });
}

void halve_run(const Shape& shape, std::uint8_t* to, std::uint64_t to_first,
               const std::uint8_t* from, std::uint64_t first, std::uint64_t count) {
  if (halving_method(shape) == HalvingMethod::merge_blocks) {
    union_run(shape.kind, to, to_first, from, first, count);
  } else {
    merge_pairs(shape.kind, to, to_first, from, first, count);
  }
}

void double_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from,
                  std::uint64_t first, std::uint64_t count) {
  assert(first * bits_per_cell(shape.kind) % 8 == 0);
  for_each_halving_run(shape, first, first + count, [&](const HalvingRun& run) {
    if (halving_method(shape) == HalvingMethod::merge_blocks) {
      union_run(shape.kind, to, run.first, from, run.to, run.count);
    } else {
      split_pairs(shape.kind, to, run.first, from, run.to, run.count);
    }
  });
}

bool halve_chunk(const Shape& shape, std::uint64_t i, const ChunkReader& read, std::uint8_t* to) {
  const std::uint64_t per_chunk = cells_per_chunk(shape.kind);
  const std::uint64_t begin = i * per_chunk;
  const std::uint64_t end = std::min(begin + per_chunk, halved(shape).cells);
  const std::uint64_t cells_to_one = halving_method(shape) == HalvingMethod::merge_cells ? 2 : 1;
  bool any = false;
  for_each_halving_run(shape, begin, end, [&](const HalvingRun& run) {
    for_each_part(run.first, run.count, per_chunk, [&](auto chunk, auto first, auto count) {
      if (const std::uint8_t* cells = read(chunk)) {
        const std::uint64_t target = run.to - begin + (first - run.first) / cells_to_one;
        halve_run(shape, to, target, cells, first % per_chunk, count);
        any = true;
      }
    });
  });
  return any;
}

}  // namespace bloom
