#include "sql/bloom_table/paged/layer_fill.h"

#include <algorithm>
#include <bit>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/operations/estimate.h"

namespace bloom {
namespace {

// Returns the estimated number of keys in `layer`, from at most 64 of its chunks. The error is
// 0.3 %, since each chunk has room for about 2,000 keys.
double estimate_keys_in(const Layers::Layer& layer, ChunkCache& cache) {
  constexpr std::uint64_t kSample = 64;
  const Shape& shape = layer.header.shape;
  const std::uint64_t chunks = chunk_count(shape);
  const std::uint64_t sample = std::min(chunks, kSample);
  std::uint64_t nonzero = 0;
  std::uint64_t cells = 0;
  for (std::uint64_t i = 0; i < sample; ++i) {
    const std::uint64_t chunk = i * chunks / sample;
    const std::uint64_t count = cells_in_chunk(shape, chunk);
    nonzero += count_nonzero(shape.kind, cache.at(layer.first_chunk + chunk), 0, count);
    cells += count;
  }
  return estimate_keys(static_cast<double>(nonzero), static_cast<double>(cells), shape.hashes) *
         static_cast<double>(shape.cells) / static_cast<double>(cells);
}

}  // namespace

bool LayerFill::is_estimate_due(Hash hash, std::uint64_t capacity) {
  constexpr std::uint64_t kEstimates = 256;
  const std::uint64_t mask = std::bit_floor(std::max<std::uint64_t>(1, capacity / kEstimates)) - 1;
  if ((hash.h1 & mask) != 0 && ++keys_since_estimate_ <= 4 * mask) {
    return false;
  }
  keys_since_estimate_ = 0;
  return true;
}

bool LayerFill::has_room(const Layers::Layer& newest, ChunkCache& cache) {
  const double room = static_cast<double>(newest.header.capacity) - estimate_keys_in(newest, cache);
  free_keys_ = room > 0 ? static_cast<std::uint64_t>(room / 2) : 0;
  return room > 0;
}

}  // namespace bloom
