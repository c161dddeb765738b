// Exact halving of a filter. A key with position p in m cells has position p / 2 in m / 2 cells. So
// merging cells 2i and 2i + 1 gives cell i of the halved filter. If blocks are merged instead,
// blocks 2i and 2i + 1 give block i. The result is bit for bit the filter that the same keys build
// in m / 2 cells:
//   halve(build(m, keys)) == build(m / 2, keys)
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/shape.h"

namespace bloom {

// How a filter of a shape is halved. If the number of blocks is even, neighbouring blocks are
// merged. Otherwise neighbouring cells are merged, if each block (or slice) has an even number of
// cells. Otherwise the filter cannot be halved.
enum class HalvingMethod { none, merge_blocks, merge_cells };
HalvingMethod halving_method(const Shape& shape);
inline bool is_halvable(const Shape& shape) { return halving_method(shape) != HalvingMethod::none; }

// Returns the shape with half the cells. Requires: is_halvable(shape).
Shape halved(const Shape& shape);

// The cells first..first+count-1 of the original filter. They are merged into the halved filter
// from cell `to` on: into `count` cells with HalvingMethod::merge_blocks, and into count / 2 cells
// with HalvingMethod::merge_cells.
struct HalvingRun {
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t to;
};

// Calls f(run) for the runs that are merged into cells begin..end-1 of the halved filter. A run
// never starts before its target (run.first >= run.to). So a filter can be halved in place, from
// its first cell on.
template <typename F>
void for_each_halving_run(const Shape& shape, std::uint64_t begin, std::uint64_t end, F&& f) {
  if (halving_method(shape) == HalvingMethod::merge_cells) {
    f(HalvingRun{2 * begin, 2 * (end - begin), begin});
    return;
  }
  for (std::uint64_t to = begin; to < end;) {
    const std::uint64_t in_block = to % shape.block;
    const std::uint64_t count = std::min(shape.block - in_block, end - to);
    const std::uint64_t even = 2 * (to - in_block) + in_block;
    f(HalvingRun{even, count, to});
    f(HalvingRun{even + shape.block, count, to});
    to += count;
  }
}

// Computes a part of a halved filter: writes cells first..first+count-1 of the halved filter to the
// same cells of `to`. `from` is the original filter, and `shape` is its shape. Requires: `to` is
// zeroed, and `first` is at a byte boundary.
void halve_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from,
                 std::uint64_t first, std::uint64_t count);

// Merges one HalvingRun: cells first..first+count-1 of `from` into `to`, from cell `to_first` on.
// Requires: with HalvingMethod::merge_cells, `first` and `to_first` are at byte boundaries.
void halve_run(const Shape& shape, std::uint8_t* to, std::uint64_t to_first,
               const std::uint8_t* from, std::uint64_t first, std::uint64_t count);

// The reverse of halve_cells(). `from` is a filter of half the cells, and `to` gets a filter of
// `shape`. Copies each cell first..first+count-1 of `from` to every cell of `to` that halving
// merges into it. Requires: `to` is zeroed, and `first` is at a byte boundary.
void double_cells(const Shape& shape, std::uint8_t* to, const std::uint8_t* from,
                  std::uint64_t first, std::uint64_t count);

// Returns the cells of chunk i, valid until the next call, or null if they are all 0.
using ChunkReader = std::function<const std::uint8_t*(std::uint64_t i)>;

// Writes chunk i of the halved filter to `to`. `shape` and `read` belong to the original filter.
// Reads only chunks i and later, so a filter can be halved in place, from its first chunk on.
// Returns false if all chunks it needed were null. Requires: `to` is zeroed, and
// is_halvable(shape).
bool halve_chunk(const Shape& shape, std::uint64_t i, const ChunkReader& read, std::uint8_t* to);

// Calls f(j) for each chunk j of the halved filter that gets cells of chunk i of the original
// filter. The numbers j ascend, but f may be called several times with the same j. Requires:
// is_halvable(shape).
template <typename F>
void for_each_halved_chunk(const Shape& shape, std::uint64_t i, F&& f) {
  const std::uint64_t per_chunk = cells_per_chunk(shape.kind);
  const auto chunks_of = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t j = first / per_chunk; j <= (first + count - 1) / per_chunk; ++j) {
      f(j);
    }
  };
  const std::uint64_t first = i * per_chunk;
  const std::uint64_t count = cells_in_chunk(shape, i);
  if (halving_method(shape) == HalvingMethod::merge_cells) {
    chunks_of(first / 2, (count + 1) / 2);
    return;
  }
  for_each_part(first, count, shape.block, [&](auto block, auto cell, auto n) {
    chunks_of(block / 2 * shape.block + cell % shape.block, n);
  });
}

}  // namespace bloom
