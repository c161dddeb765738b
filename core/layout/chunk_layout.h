// How the cells of a filter are cut into chunks, which tables store one by one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/shape.h"

namespace bloom {

// Bytes of cells in one chunk: fits a 4 KiB database page beside its row header even with 80
// reserved bytes, and is 62 cache lines. Filters made for a capacity have blocks of this size.
inline constexpr std::size_t kChunkBytes = 3968;

// The cells as chunks: chunk i is bytes kChunkBytes * i to kChunkBytes * (i + 1), the last one ends
// with the cells.
std::uint64_t chunk_cells(Kind kind);
std::uint64_t chunk_count(const Shape& shape);
std::size_t chunk_bytes(const Shape& shape, std::uint64_t i);
std::uint64_t cells_in_chunk(const Shape& shape, std::uint64_t i);

// How many blocks a chunk holds; 0 if there are blocks that do not lie in one chunk.
std::uint64_t blocks_in_a_chunk(const Shape& shape);

}  // namespace bloom
