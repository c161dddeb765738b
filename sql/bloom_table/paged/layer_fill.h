// Tells a growing filter when its newest layer is full, and another layer is due
// (core/sizing/growth.h).
//
// The number of keys in a layer is not stored: storing it would make every transaction write one
// more page. It is estimated from the cells instead.
//
// An estimate is made for about 1 in (capacity / 256) added keys: for those whose hash has certain
// bits 0. Each connection makes the estimate when it adds such a key. An attacker could choose only
// keys with other hashes. So a connection also makes an estimate after about (capacity / 64) keys
// without one.
//
// Within a transaction no other connection can add keys. So the next estimate is due only after
// half of the free room that was found has been used.
#pragma once

#include <cstdint>

#include "core/filter/layers.h"
#include "core/hashing/hash.h"
#include "sql/bloom_table/paged/chunk_cache.h"

namespace bloom {

class LayerFill {
 public:
  // Call after the key with this hash was added to `newest`. Returns whether the layer is full.
  // Reads chunks of the layer if an estimate is due; throws what ChunkCache::at() throws.
  bool is_full_after(Hash hash, const Layers::Layer& newest, ChunkCache& cache) {
    if (free_keys_ > 0) {
      --free_keys_;
      return false;
    }
    return is_estimate_due(hash, newest.header.capacity) && !has_room(newest, cache);
  }

  // Call at the end of a transaction, and whenever cells can have changed in another way: from then
  // on the last estimate says nothing about the free room.
  void forget_estimate() { free_keys_ = 0; }

 private:
  bool is_estimate_due(Hash hash, std::uint64_t capacity);
  bool has_room(const Layers::Layer& newest, ChunkCache& cache);

  // Lower bound on the number of keys that still fit into the layer.
  std::uint64_t free_keys_ = 0;
  std::uint64_t keys_since_estimate_ = 0;
};

}  // namespace bloom
