#include "sql/bloom_table/paged/chunk_cache.h"

#include <algorithm>
#include <utility>

#include "core/layout/chunk_layout.h"

namespace bloom {

void ChunkCache::reset(const Layers& layers) {
  forget();
  if (places_for(layers) != wanted_places_) {
    wanted_places_ = 0;
    places_.clear();
    cells_.reset();
  }
  extend(layers);
}

// If chunks are cached, `layers` are the current ones followed by newer ones. A cached chunk keeps
// its place: the number of places rises only if every chunk had a place of its own before, and if
// there is memory for all that are wanted.
void ChunkCache::extend(const Layers& layers) {
  const std::size_t wanted = places_for(layers);
  if (wanted != wanted_places_) {
    const std::size_t count = affordable_places(wanted);
    if (places_.empty() || (places_.size() == wanted_places_ && count == wanted)) {
      make_places(count);
    }
    wanted_places_ = wanted;
  }
  layers_ = &layers;
}

void ChunkCache::make_places(std::size_t count) {
  used_.reserve(count);
  changed_.reserve(count);
  OwnedBytes cells = zeroed_bytes(std::uint64_t{count} * kChunkBytes, Access::sparse);
  places_.resize(count);
  for (const std::size_t index : used_) {
    std::copy_n(cells_at(index), kChunkBytes, cells.get() + index * kChunkBytes);
  }
  cells_ = std::move(cells);
}

// Takes at most a quarter of the memory that is left: SQLite and the results of functions need the
// rest. Fewer places make lookups slower, but do not fail.
std::size_t ChunkCache::affordable_places(std::size_t wanted) {
  constexpr std::uint64_t kBytesPerPlace = kChunkBytes + sizeof(Place) + 2 * sizeof(std::size_t);
  const std::uint64_t most = available_memory() / 4 / kBytesPerPlace;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(most, 1, wanted));
}

std::size_t ChunkCache::places_for(const Layers& layers) const {
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(bytes_ / kChunkBytes, 1, layers.chunk_count()));
}

void ChunkCache::forget() {
  for (const std::size_t index : used_) {
    places_[index].chunk = kNone;
    places_[index].changed = places_[index].listed = places_[index].used = false;
  }
  used_.clear();
  changed_.clear();
}

bool ChunkCache::insert_row(std::uint64_t i) {
  Place& place = places_[place_of(i)];
  if (place.stored) {
    return false;
  }
  // If inserting the row throws, the change cannot be stored. The chunk then counts as not cached,
  // so that its changed cells are never used.
  place.chunk = kNone;
  insert_rows(i);
  place.chunk = i;
  place.stored = true;
  return true;
}

void ChunkCache::mark_changed(std::uint64_t i) {
  insert_row(i);
  Place& place = places_[place_of(i)];
  place.changed = true;
  if (!place.listed) {
    place.listed = true;
    changed_.push_back(place_of(i));
  }
}

// Inserts the row of chunk i and rows next to it.
//
// A new row between existing rows makes SQLite write six pages. Each further row next to the new
// row writes hardly more than its own page. Inserting four rows at once keeps the cost of a table's
// first keys below that of a PRIMARY KEY (bench/table.py). All rows of a small layer are inserted
// at once: if any row is missing later, lookups notice.
void ChunkCache::insert_rows(std::uint64_t i) {
  const Layers::Layer& layer = layers_->layer_of(i);
  const std::uint64_t layer_end = layer.first_chunk + chunk_count(layer.header.shape);
  std::uint64_t first = layer.first_chunk;
  std::uint64_t end = layer_end;
  if (end - first > kMaxRowsOfSmallLayer) {
    first += (i - first) / kRowsPerInsert * kRowsPerInsert;
    end = std::min(first + kRowsPerInsert, layer_end);
  }
  std::uint64_t inserted = 0;
  for (std::uint64_t row = first; row < end; ++row) {
    if (row == i) {
      store_.insert_chunk(i, cells_of(i));
      ++inserted;
      continue;
    }
    inserted += store_.insert_empty_chunk(row, layers_->chunk_bytes(row)) ? 1 : 0;
    Place& place = places_[place_of(row)];
    place.stored = place.stored || place.chunk == row;
  }
  store_.raise_count(layers_->index_of(layer), inserted);
}

void ChunkCache::flush() {
  if (changed_.empty()) {
    return;
  }
  std::sort(changed_.begin(), changed_.end(),
            [this](std::size_t a, std::size_t b) { return places_[a].chunk < places_[b].chunk; });
  ChunkWriter writer(store_);
  for (const std::size_t index : changed_) {
    if (Place& place = places_[index]; place.changed) {
      writer.write(place.chunk, cells_of(place.chunk));
      place.changed = false;
    }
  }
  for (const std::size_t index : changed_) {
    places_[index].listed = false;
  }
  changed_.clear();
}

void ChunkCache::load(std::size_t index, std::uint64_t i) {
  Place& place = places_[index];
  if (place.changed) {
    ChunkWriter(store_).write(place.chunk, cells_of(place.chunk));
    place.changed = false;
  }
  if (!place.used) {
    used_.push_back(index);
    place.used = true;
  }
  place.chunk = kNone;
  place.stored = store_.load_chunk(i, cells_of(i));
  if (!place.stored) {
    store_.require_row_not_deleted(i, *layers_);
  }
  overlay_(i, cells_at(index));
  ++chunks_read_;
  place.chunk = i;
}

}  // namespace bloom
