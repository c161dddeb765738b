// The layers of a filter that grows (core/sizing/growth.h), oldest first. The chunks of all layers
// are numbered consecutively: those of a layer follow those of all older layers. A filter that does
// not grow has one layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/filter/chunked.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/format.h"
#include "core/layout/shape.h"

namespace bloom {

class Layers {
 public:
  struct Layer {
    Header header;
    std::uint64_t first_chunk;
  };

  Layers() = default;
  explicit Layers(const Header& only) { append(only); }

  // Adds a newest layer. References to older layers become invalid.
  void append(const Header& header);

  const std::vector<Layer>& all() const { return layers_; }
  std::vector<Header> headers() const;
  bool empty() const { return layers_.empty(); }
  std::size_t size() const { return layers_.size(); }
  const Layer& oldest() const { return layers_.front(); }
  const Layer& newest() const { return layers_.back(); }
  // The shape of the oldest layer. All layers have its kind, seed and collation.
  const Shape& shape() const { return oldest().header.shape; }

  std::uint64_t chunk_count() const { return chunk_count_; }
  // Returns the layer that contains chunk i. Requires: i < chunk_count().
  const Layer& layer_of(std::uint64_t i) const;
  std::size_t chunk_bytes(std::uint64_t i) const;

 private:
  std::vector<Layer> layers_;
  std::uint64_t chunk_count_ = 0;
};

// Looks up, adds and removes keys of all layers, as ChunkedFilter does for one layer.
template <typename Chunks>
class LayeredFilter {
 public:
  explicit LayeredFilter(const Layers& layers) {
    for (const auto& layer : layers.all()) {
      filters_.emplace_back(layer.header.shape);
      first_.push_back(layer.first_chunk);
    }
  }

  // Looks up the newest layer first: it is the largest, so it contains most keys.
  bool may_contain(Hash hash, Chunks& chunks) const {
    for (std::size_t i = filters_.size(); i-- > 0;) {
      ChunksFrom<Chunks> own(chunks, first_[i]);
      if (filters_[i].may_contain(hash, own)) {
        return true;
      }
    }
    return false;
  }

  // Add to, and remove from, the newest layer only. See ChunkedFilter.
  bool add(Hash hash, Chunks& chunks) const {
    ChunksFrom<Chunks> own(chunks, first_.back());
    return filters_.back().add(hash, own);
  }
  bool remove(Hash hash, Chunks& chunks) const {
    ChunksFrom<Chunks> own(chunks, first_.back());
    return filters_.back().remove(hash, own);
  }

  // Returns the chunk that add() would change: see ChunkedFilter.
  std::uint64_t chunk_of(Hash hash) const {
    const std::uint64_t chunk = filters_.back().chunk_of(hash);
    return chunk == Filter::kSeveral ? chunk : first_.back() + chunk;
  }
  // Adds keys to the newest layer. `chunks` is the array of the chunks of all layers.
  void add(std::span<const Hash> hashes, std::uint8_t* chunks) const {
    filters_.back().probe().add(hashes, chunks + first_.back() * kChunkBytes);
  }

 private:
  using Filter = ChunkedFilter<ChunksFrom<Chunks>>;

  std::vector<Filter> filters_;
  std::vector<std::uint64_t> first_;
};

}  // namespace bloom
