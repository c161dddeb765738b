#include "sql/table/chunk_cache.h"

#include <algorithm>

namespace bloom {

void ChunkCache::reset(const Shape& shape) {
  const std::uint64_t places =
      std::clamp<std::uint64_t>(bytes_ / kChunkBytes, 1, chunk_count(shape));
  forget();
  if (places != places_.size()) {
    places_ = std::vector<Place>(static_cast<std::size_t>(places));
    used_.clear();
    used_.reserve(places_.size());
    changed_.reserve(places_.size());
  }
  shape_ = shape;
}

void ChunkCache::forget() {
  for (const std::size_t i : used_) {
    places_[i].chunk = kNone;
    places_[i].changed = places_[i].listed = places_[i].used = false;
  }
  used_.clear();
  changed_.clear();
}

void ChunkCache::changed(std::uint64_t i) {
  Place& place = places_[place_of(i)];
  place.changed = true;
  if (!place.listed) {
    place.listed = true;
    changed_.push_back(place_of(i));
  }
}

void ChunkCache::flush() {
  std::sort(changed_.begin(), changed_.end(),
            [this](std::size_t a, std::size_t b) { return places_[a].chunk < places_[b].chunk; });
  for (const std::size_t i : changed_) {
    save(places_[i]);
  }
  for (const std::size_t i : changed_) {
    places_[i].listed = false;
  }
  changed_.clear();
}

void ChunkCache::load(Place& place, std::uint64_t i) {
  save(place);
  if (!place.cells) {
    place.cells = std::make_unique<std::array<std::uint8_t, kChunkBytes>>();
  }
  if (!place.used) {
    used_.push_back(place_of(i));
    place.used = true;
  }
  place.chunk = kNone;
  place.stored = store_.load_chunk(i, std::span(*place.cells).first(chunk_bytes(shape_, i)));
  place.chunk = i;
}

void ChunkCache::save(Place& place) {
  if (place.changed) {
    store_.save_chunk(place.chunk, std::span(*place.cells).first(chunk_bytes(shape_, place.chunk)),
                      place.stored);
    place.stored = true;
    place.changed = false;
  }
}

}  // namespace bloom
