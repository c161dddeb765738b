// The layers of a filter: Bloom filters with the same kind, seed and collation. Keys are added to
// the newest layer and looked up in all layers. There are three forms:
//
//   one layer     a filter of fixed size
//   growing       a new layer is appended when the newest one is full (core/sizing/growth.h)
//   generations   a fixed number of layers with equal headers. rotate() makes the oldest layer the
//                 newest; the caller empties its chunks. So keys are forgotten after a while
//
// The chunks of all layers are numbered consecutively, in the order of all(). In a growing filter
// this order is from the oldest layer to the newest. Generations are not in order of age: each
// generation keeps its place and its chunk numbers when rotate() changes the ages.
#pragma once

#include <cassert>
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
  // Returns `count` generations with this header. The newest one is all()[newest]. Requires:
  // newest < count.
  static Layers generations(const Header& each, std::size_t count, std::size_t newest = 0);

  // Adds a newest layer. References to older layers become invalid. Requires: the layers are not
  // generations.
  void append(const Header& header);
  // Makes the oldest layer the newest. Requires: the layers are generations.
  void rotate() {
    assert(are_generations_);
    newest_ = (newest_ + 1) % layers_.size();
  }

  const std::vector<Layer>& all() const { return layers_; }
  // Returns the headers, oldest first.
  std::vector<Header> headers() const;
  bool empty() const { return layers_.empty(); }
  std::size_t size() const { return layers_.size(); }
  bool are_generations() const { return are_generations_; }
  // Returns the index in all() of the layer that is number `i` from the oldest: 0 is the oldest,
  // and size() - 1 is the newest. Requires: i < size().
  std::size_t index_from_oldest(std::size_t i) const {
    assert(i < layers_.size());
    return (newest_ + 1 + i) % layers_.size();
  }

  // These functions require: there is a layer.
  std::size_t newest_index() const { return newest_; }
  const Layer& oldest() const { return layers_[index_from_oldest(0)]; }
  const Layer& newest() const { return layers_[newest_]; }
  // Returns the shape of the first layer. The other layers have the same kind, seed and collation.
  const Shape& shape() const { return layers_.front().header.shape; }

  std::uint64_t chunk_count() const { return chunk_count_; }
  // Returns the layer that contains chunk i. Requires: i < chunk_count().
  const Layer& layer_of(std::uint64_t i) const;
  // Returns the index in all() of one of its elements.
  std::size_t index_of(const Layer& layer) const {
    return static_cast<std::size_t>(&layer - layers_.data());
  }
  // Returns the size of chunk i in bytes. Requires: i < chunk_count().
  std::size_t chunk_bytes(std::uint64_t i) const;

 private:
  std::vector<Layer> layers_;
  std::size_t newest_ = 0;  // index in layers_
  bool are_generations_ = false;
  std::uint64_t chunk_count_ = 0;
};

// Looks up keys in all layers. Adds and removes keys in the newest layer only. `Chunks` holds the
// chunks of all layers: see ChunkedFilter.
class LayeredFilter {
 public:
  explicit LayeredFilter(const Layers& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layers::Layer& layer = layers.all()[layers.index_from_oldest(i)];
      filters_.emplace_back(layer.header.shape, layer.first_chunk);
    }
  }

  // Looks up the newest layer first: in a filter that grows it has more than half of the total
  // capacity, so when it is full it has most keys.
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
    newest().array_filter().add(hashes, cells + newest().first_chunk() * kChunkBytes);
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

  std::vector<ChunkedFilter> filters_;  // oldest first
};

}  // namespace bloom
