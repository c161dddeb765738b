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
  // Require: there is a layer. All layers have the kind, seed and collation of shape(), which is
  // the shape of the oldest layer.
  const Layer& newest() const { return layers_.back(); }
  const Shape& shape() const { return oldest().header.shape; }

  std::uint64_t chunk_count() const { return chunk_count_; }
  // Returns the layer that contains chunk i. Requires: i < chunk_count().
  const Layer& layer_of(std::uint64_t i) const;
  // Returns the size of chunk i in bytes. Requires: i < chunk_count().
  std::size_t chunk_bytes(std::uint64_t i) const;

 private:
  std::vector<Layer> layers_;
  std::uint64_t chunk_count_ = 0;
};

// Looks up keys in all layers. Adds and removes keys in the newest layer only. `Chunks` holds the
// chunks of all layers: see ChunkedFilter.
class LayeredFilter {
 public:
  explicit LayeredFilter(const Layers& layers) {
    for (const auto& layer : layers.all()) {
      filters_.emplace_back(layer.header.shape, layer.first_chunk);
    }
  }

  // Looks up the newest layer first: it is the largest, so it contains most keys.
  template <typename Chunks>
  bool may_contain(Hash hash, Chunks& chunks) const {
    return newest().may_contain(hash, chunks) || older_may_contain(hash, chunks);
  }

  template <typename Chunks>
  bool add(Hash hash, Chunks& chunks) const {
    return newest().add(hash, chunks);
  }
  template <typename Chunks>
  bool remove(Hash hash, Chunks& chunks) const {
    return newest().remove(hash, chunks);
  }
  // Adds a key unless some layer may contain it. Returns whether the key was added.
  template <typename Chunks>
  bool add_if_absent(Hash hash, Chunks& chunks) const {
    const Placement place = newest().placement_of(hash);
    return !newest().may_contain(hash, place, chunks) && !older_may_contain(hash, chunks) &&
           newest().add(hash, place, chunks);
  }

  // Returns where add() puts the key. A caller that needs the chunk before it adds the key passes
  // the result to add(), which then does not compute it again.
  Placement placement_of(Hash hash) const { return newest().placement_of(hash); }
  // Requires: `place` is placement_of(hash).
  template <typename Chunks>
  bool add(Hash hash, Placement place, Chunks& chunks) const {
    return newest().add(hash, place, chunks);
  }
  // Adds keys to the newest layer. `cells` is the array of the chunks of all layers.
  void add(std::span<const Hash> hashes, std::uint8_t* cells) const {
    newest().probe().add(hashes, cells + newest().first_chunk() * kChunkBytes);
  }

 private:
  const ChunkedFilter& newest() const { return filters_.back(); }

  template <typename Chunks>
  bool older_may_contain(Hash hash, Chunks& chunks) const {
    for (std::size_t i = filters_.size() - 1; i-- > 0;) {
      if (filters_[i].may_contain(hash, chunks)) {
        return true;
      }
    }
    return false;
  }

  std::vector<ChunkedFilter> filters_;
};

}  // namespace bloom
