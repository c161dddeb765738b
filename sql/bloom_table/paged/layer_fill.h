// Tells a growing filter when its newest layer is full, and another layer is due
// (core/sizing/growth.h).
//
// The number of keys in a layer is not stored: storing it would make every transaction write one
// more page. It is estimated from the cells instead.
//
// Each connection makes an estimate when it adds a key whose hash has certain bits 0. This is about
// every (capacity / 256)-th key. An attacker could choose only keys with other hashes. So a
// connection also makes an estimate after about capacity / 64 keys without one.
//
// Within a transaction no other connection can add keys. So an estimate that finds room for n more
// keys is good for the next n / 2 keys.
#pragma once

#include <cstdint>

#include "core/filter/layers.h"
#include "core/hashing/hash.h"
#include "sql/bloom_table/paged/chunk_cache.h"

namespace bloom {

class LayerFill {
 public:
  // Call after the key with this hash was added to `newest`. If an estimate is due, reads
  // chunks of the layer and returns whether it is full now; otherwise returns false. Throws what
  // ChunkCache::at() throws.
  bool note_added(Hash hash, const Layers::Layer& newest, ChunkCache& cache) {
    if (free_keys_ > 0) {
      --free_keys_;
      return false;
    }
    return is_estimate_due(hash, newest.header.capacity) && !has_room(newest, cache);
  }

  // Call at the end of a transaction, and whenever cells can have changed in another way. The last
  // estimate then says nothing about the free room any more.
  void forget_estimate() { free_keys_ = 0; }

 private:
  bool is_estimate_due(Hash hash, std::uint64_t capacity);
  bool has_room(const Layers::Layer& newest, ChunkCache& cache);

  // Lower bound on the number of keys that still fit into the layer.
  std::uint64_t free_keys_ = 0;
  std::uint64_t keys_since_estimate_ = 0;
};

}  // namespace bloom
