#include "sql/bloom_table/paged/halve_stored.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"

namespace bloom {
namespace {

// Reads and replaces the stored chunks of a filter. Caches the chunk that was read last.
class StoredChunks {
 public:
  StoredChunks(BloomStore& store, const Shape& shape) : store_(store), shape_(shape) {}

  // Returns the cells of chunk i, or null if it has no row. The pointer is valid until the next
  // call.
  const std::uint8_t* read(std::uint64_t i) {
    if (cached_ != i) {
      cached_.reset();
      has_row_ = store_.load_chunk(i, std::span(cells_).first(chunk_bytes(shape_, i)));
      cached_ = i;
    }
    return has_row_ ? cells_.data() : nullptr;
  }

  // Replaces chunk i. The new size may differ, because the new chunk belongs to a halved filter.
  void replace(std::uint64_t i, std::span<const std::uint8_t> cells) {
    erase(i);
    store_.insert_chunk(i, cells);
  }
  void erase(std::uint64_t i) {
    if (read(i) != nullptr) {
      store_.delete_chunk(i);
      cached_.reset();
    }
  }

 private:
  BloomStore& store_;
  Shape shape_;
  std::array<std::uint8_t, kChunkBytes> cells_{};
  std::optional<std::uint64_t> cached_;
  bool has_row_ = false;
};

// Returns, in order, the chunks to write or delete. These are the nonempty chunks of the halved
// filter, and the stored chunks that have a number below `half_count`.
CountedVector<std::uint64_t> chunks_to_change(BloomStore& store, const Shape& shape,
                                              std::uint64_t half_count) {
  CountedVector<std::uint64_t> chunks;
  for (const std::uint64_t i : store.stored_chunks()) {
    for_each_halved_chunk(shape, i, [&](std::uint64_t to) {
      if (chunks.empty() || chunks.back() != to) {
        chunks.push_back(to);
      }
    });
    if (i < half_count) {
      chunks.push_back(i);
    }
  }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

}  // namespace

// Chunk i of the halved filter is made of chunks with numbers i and above. Working upwards
// therefore reads each chunk before it is replaced. Chunks without a row are skipped: a table may
// have billions of them.
void halve_stored_chunks(BloomStore& store, const Shape& shape) {
  const Shape half = halved(shape);
  const std::uint64_t half_count = chunk_count(half);
  StoredChunks chunks(store, shape);
  const auto read = [&](std::uint64_t i) { return chunks.read(i); };
  std::array<std::uint8_t, kChunkBytes> cells{};
  for (const std::uint64_t i : chunks_to_change(store, shape, half_count)) {
    cells.fill(0);
    if (halve_chunk(shape, i, read, cells.data())) {
      chunks.replace(i, std::span(cells).first(chunk_bytes(half, i)));
    } else {
      chunks.erase(i);
    }
  }
  store.delete_chunks_from(half_count);
}

}  // namespace bloom
