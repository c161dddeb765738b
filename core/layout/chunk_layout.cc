#include "core/layout/chunk_layout.h"

#include <algorithm>
#include <cassert>

#include "core/layout/shape.h"

namespace bloom {

std::uint64_t cells_per_chunk(Kind kind) { return kChunkBytes * 8 / bits_per_cell(kind); }

std::uint64_t chunk_count(const Shape& shape) {
  return (cell_bytes(shape) + kChunkBytes - 1) / kChunkBytes;
}

std::size_t chunk_bytes(const Shape& shape, std::uint64_t i) {
  assert(i < chunk_count(shape));
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(kChunkBytes, cell_bytes(shape) - i * kChunkBytes));
}

std::uint64_t cells_in_chunk(const Shape& shape, std::uint64_t i) {
  assert(i < chunk_count(shape));
  const std::uint64_t per_chunk = cells_per_chunk(shape.kind);
  return std::min(per_chunk, shape.cells - i * per_chunk);
}

std::uint64_t blocks_per_chunk(const Shape& shape) {
  if (chunk_count(shape) == 1) {
    return shape.blocks();
  }
  const std::uint64_t per_chunk = cells_per_chunk(shape.kind);
  return per_chunk % shape.block_cells() == 0 ? per_chunk / shape.block_cells() : 0;
}

}  // namespace bloom
