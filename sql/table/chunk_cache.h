// The chunks of a bloom table that a connection has at hand, changed ones among them until flush().
//
// Keys go to chunks at random and evenly, so no chunk is more worth keeping than another: chunk i
// has one place, i modulo the number of places, and whoever needs the place next takes it over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/filter/layers.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/format.h"
#include "core/support/memory.h"
#include "sql/table/store.h"

namespace bloom {

class ChunkCache {
 public:
  // Holds at most so many bytes of chunks, and at least one chunk.
  ChunkCache(Store& store, std::uint64_t bytes) : store_(store), bytes_(bytes) {}

  // Forgets all chunks, changed ones too, and goes on with those of other layers, which must live
  // as long as they are used.
  void reset(const Layers& layers);
  // Goes on with the same layers and newer ones.
  void extend(const Layers& layers);
  // Forgets all chunks, changed ones too.
  void forget();

  // See core/filter/chunked.h. at() may write another chunk to the store, to make room; changed()
  // gives the chunk a row if it has none.
  std::uint8_t* at(std::uint64_t i) {
    const std::size_t place = place_of(i);
    if (places_[place].chunk != i) {
      load(place, i);
    }
    return cells_at(place);
  }
  void changed(std::uint64_t i);

  // Whether chunk i is at hand and was changed before: changing it again cannot fail.
  bool is_changed(std::uint64_t i) const {
    const Place& place = places_[place_of(i)];
    return place.chunk == i && place.changed;
  }
  // All chunks one after another, if there is a place for each, else null. Good until more of them
  // are needed.
  std::uint8_t* array() const {
    return places_.size() == layers_->chunk_count() ? cells_.get() : nullptr;
  }

  // The cells of chunk i if it is cached and changed, else null.
  const std::uint8_t* changed_cells(std::uint64_t i) const {
    return is_changed(i) ? cells_at(place_of(i)) : nullptr;
  }

  // Writes the changed chunks to the store. They stay cached.
  void flush();
  bool has_changes() const { return !changed_.empty(); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kRowsAtOnce = 4;

  struct Place {
    std::uint64_t chunk = kNone;
    bool stored = false;   // has a row
    bool changed = false;  // since it was loaded or written
    bool listed = false;   // in changed_
    bool used = false;     // in used_
  };

  std::size_t place_of(std::uint64_t i) const {
    return static_cast<std::size_t>(i < places_.size() ? i : i % places_.size());
  }
  std::uint8_t* cells_at(std::size_t place) const { return cells_.get() + place * kChunkBytes; }
  // The cells of chunk i, which must be at its place.
  std::span<std::uint8_t> cells_of(std::uint64_t i) const {
    return {cells_at(place_of(i)), layers_->chunk_bytes(i)};
  }
  void load(std::size_t at, std::uint64_t i);
  void make_rows(std::uint64_t i);
  std::size_t places_for(const Layers& layers) const;

  Store& store_;
  std::uint64_t bytes_;
  const Layers* layers_ = nullptr;
  std::vector<Place> places_;
  OwnedBytes cells_;                  // of all places, one after another
  std::vector<std::size_t> used_;     // places that may hold a chunk
  std::vector<std::size_t> changed_;  // places whose chunk was changed since the last flush()
};

}  // namespace bloom
