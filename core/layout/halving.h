// Halving a filter, exactly: position p in m cells is position p / 2 in m / 2 cells. So cell i of
// the half is cell 2i merged with cell 2i + 1, or block i is block 2i merged with block 2i + 1, and
//   halve(build(m, keys)) == build(m / 2, keys)  bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/layout/chunk_layout.h"
#include "core/layout/shape.h"

namespace bloom {

// How a shape can be halved: by merging neighbouring blocks while their number is even, then
// neighbouring cells.
enum class Fold { none, blocks, cells };
Fold fold_of(const Shape& shape);
Shape halved(const Shape& shape);  // REQUIRES: fold_of(shape) != Fold::none

// Cells first..first+count-1 of a filter that is halved, which go to cell `to` of the half and
// those after it: each to one of its own (Fold::blocks), or two and two to one (Fold::cells).
struct FoldRun {
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t to;
};

// Calls f(run) for the runs that cells begin..end-1 of the half of a filter are made of. None lies
// before cell `to`, so that a filter can be halved in place from its first cell on.
template <typename F>
void for_each_fold_run(const Shape& shape, std::uint64_t begin, std::uint64_t end, F&& f) {
  if (fold_of(shape) == Fold::cells) {
    f(FoldRun{2 * begin, 2 * (end - begin), begin});
    return;
  }
  for (std::uint64_t to = begin; to < end;) {
    const std::uint64_t in_block = to % shape.block;
    const std::uint64_t count = std::min(shape.block - in_block, end - to);
    const std::uint64_t even = 2 * (to - in_block) + in_block;
    f(FoldRun{even, count, to});
    f(FoldRun{even + shape.block, count, to});
    to += count;
  }
}

// Halves `from`, which has this shape, as fold_of(shape) says: cells first..first+count-1 of zeroed
// `to`. REQUIRES: cell `first` starts a byte.
void fold_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from, std::uint64_t first,
                std::uint64_t count);

// A part of that: cells first..first+count-1 of `from` into cell `to_first` of `to` and those after
// it. REQUIRES: when cells are folded, cell `first` starts a byte, as does `to_first`.
void halve_run(const Shape& shape, std::uint8_t* to, std::uint64_t to_first,
               const std::uint8_t* from, std::uint64_t first, std::uint64_t count);

// The cells of chunk i, good until the next call; null if all are 0.
using ChunkReader = std::function<const std::uint8_t*(std::uint64_t i)>;

// Chunk i of the half of a filter of this shape, into zeroed `to`. It is made of chunks i and later
// ones, so a filter can be halved in place, from its first chunk on. Returns whether there was any.
// REQUIRES: fold_of(shape) != Fold::none
bool fold_chunk(const Shape& shape, std::uint64_t i, const ChunkReader& read, std::uint8_t* to);

// Calls f(to) for the chunks of the half that chunk i of a filter of this shape goes into, in
// order; it may do so several times for one chunk. REQUIRES: fold_of(shape) != Fold::none
template <typename F>
void for_each_folded_chunk(const Shape& shape, std::uint64_t i, F&& f) {
  const std::uint64_t per_chunk = chunk_cells(shape.kind);
  const auto chunks_of = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t to = first / per_chunk; to <= (first + count - 1) / per_chunk; ++to) {
      f(to);
    }
  };
  const std::uint64_t first = i * per_chunk;
  const std::uint64_t count = cells_in_chunk(shape, i);
  if (fold_of(shape) == Fold::cells) {
    chunks_of(first / 2, (count + 1) / 2);
    return;
  }
  for_each_part(first, count, shape.block, [&](auto block, auto cell, auto n) {
    chunks_of(block / 2 * shape.block + cell % shape.block, n);
  });
}

}  // namespace bloom
