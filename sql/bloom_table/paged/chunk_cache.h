// The chunks of a bloom table that a connection has cached. Changed chunks are written by
// flush(), or when another chunk needs their place.
//
// The cache is direct-mapped. Keys are spread evenly and at random over the chunks, so no chunk is
// more worth keeping than another. Chunk i has one place: i modulo the number of places.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "core/filter/layers.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/format.h"
#include "core/support/memory.h"
#include "sql/bloom_table/paged/bloom_store.h"

namespace bloom {

class ChunkCache {
 public:
  // `bytes`: the size limit of the cache. It holds at least one chunk even if `bytes` is smaller.
  ChunkCache(BloomStore& store, std::uint64_t bytes) : store_(store), bytes_(bytes) {}

  // Drops all chunks, also changed ones, and switches to `layers`. Requires: `layers` outlives the
  // cache, or lives until the next reset() or extend().
  void reset(const Layers& layers);
  // Switches to `layers`. Cached chunks stay. Requires: `layers` are the current layers, followed
  // by newer ones.
  void extend(const Layers& layers);
  // Drops all chunks, also changed ones, without writing them.
  void forget();

  // See core/filter/chunked.h. at() returns the cells of chunk i, and may write another chunk to
  // the store to free its place. mark_changed() marks chunk i as changed, and inserts its row if it
  // has none. Both throw what BloomStore throws.
  std::uint8_t* at(std::uint64_t i) {
    const std::size_t index = place_of(i);
    if (places_[index].chunk != i) {
      load(index, i);
    }
    return cells_at(index);
  }
  void mark_changed(std::uint64_t i);
  // Inserts the row of chunk i, with its cells, if it has none. Returns whether it had none.
  // Requires: at(i) was called last.
  bool insert_row(std::uint64_t i);

  // Returns whether chunk i is cached and already marked as changed. Changing it again cannot fail.
  bool is_changed(std::uint64_t i) const {
    const Place& place = places_[place_of(i)];
    return place.chunk == i && place.changed;
  }
  // Sets what changes the cells of each chunk that is read from the store: see BloomRowLog.
  using Overlay = std::function<void(std::uint64_t i, std::uint8_t* cells)>;
  void set_overlay(Overlay overlay) { overlay_ = std::move(overlay); }

  // Returns the cells of all chunks as one array if every chunk has a place of its own, else null.
  // Only the cells of cached chunks are valid. The pointer is valid until the next reset() or
  // extend().
  std::uint8_t* all_chunks() const {
    return places_.size() == layers_->chunk_count() ? cells_.get() : nullptr;
  }

  // Returns the cells of chunk i if it is cached and changed, else null.
  const std::uint8_t* changed_cells(std::uint64_t i) const {
    return is_changed(i) ? cells_at(place_of(i)) : nullptr;
  }

  // Returns how many chunks have been read from the store.
  std::uint64_t chunks_read() const { return chunks_read_; }

  // Writes the changed chunks to the store. They stay cached.
  void flush();
  bool has_changes() const { return !changed_.empty(); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  // Rows are inserted in groups of this size, but all at once in a small layer: see insert_rows().
  static constexpr std::uint64_t kRowsPerInsert = 4;
  static constexpr std::uint64_t kMaxRowsOfSmallLayer = 64;  // 254 KB

  // A place in the cache, which holds a chunk. In this class, `index` is the index of a place, and
  // `i` is the number of a chunk in the filter.
  struct Place {
    std::uint64_t chunk = kNone;
    bool stored = false;   // has a row in the store
    bool changed = false;  // since it was loaded or last written
    bool listed = false;   // is in changed_
    bool used = false;     // is in used_
  };

  // Returns the index of the place of chunk i.
  std::size_t place_of(std::uint64_t i) const {
    return static_cast<std::size_t>(i < places_.size() ? i : i % places_.size());
  }
  std::uint8_t* cells_at(std::size_t index) const { return cells_.get() + index * kChunkBytes; }
  // Returns the cells at the place of chunk i, as many as chunk i has.
  std::span<std::uint8_t> cells_of(std::uint64_t i) const {
    return {cells_at(place_of(i)), layers_->chunk_bytes(i)};
  }
  void load(std::size_t index, std::uint64_t i);
  void insert_rows(std::uint64_t i);
  std::size_t places_for(const Layers& layers) const;
  void make_places(std::size_t count);
  static std::size_t affordable_places(std::size_t wanted);

  BloomStore& store_;
  Overlay overlay_;
  std::uint64_t bytes_;
  const Layers* layers_ = nullptr;
  // What places_for() returned when the places were made. There may be fewer places: memory may
  // have been limited.
  std::size_t wanted_places_ = 0;
  CountedVector<Place> places_;
  OwnedBytes cells_;                 // of all places, one after another
  CountedVector<std::size_t> used_;  // places that may hold a chunk
  std::uint64_t chunks_read_ = 0;
  CountedVector<std::size_t> changed_;  // places whose chunk was changed since the last flush()
};

}  // namespace bloom
