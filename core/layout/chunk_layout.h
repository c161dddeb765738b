// The division of a filter's cells into chunks. Tables store one chunk per row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/shape.h"

namespace bloom {

// Bytes of cells per chunk: 62 cache lines. A row with one chunk fits into a 4 KiB database page,
// even if the page has 80 reserved bytes. Unless the option `block` says otherwise, a filter sized
// for a capacity has blocks as large as a chunk, or a single smaller block.
inline constexpr std::size_t kChunkBytes = 3968;

// Returns the number of cells in a full chunk.
std::uint64_t cells_per_chunk(Kind kind);

// Returns the number of chunks of a filter. Chunk i is bytes kChunkBytes * i to kChunkBytes * (i +
// 1) - 1 of the cells. The last chunk is shorter if the cells end earlier.
std::uint64_t chunk_count(const Shape& shape);

// Return the size of chunk i, in bytes and in cells. Require: i < chunk_count(shape).
std::size_t chunk_bytes(const Shape& shape, std::uint64_t i);
std::uint64_t cells_in_chunk(const Shape& shape, std::uint64_t i);

// Returns the number of blocks per chunk, or 0 if a block crosses the border of two chunks.
std::uint64_t blocks_per_chunk(const Shape& shape);

}  // namespace bloom
