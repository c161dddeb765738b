// The hash function that determines which cells are set: MurmurHash3_x64_128 (Austin Appleby). Its
// two 64-bit halves are the two hash functions of Kirsch-Mitzenmacher double hashing.
//
// The hash function must never change: a lookup with another hash function returns "absent" for
// keys that were added. Seeds are limited to 31 bits because implementations disagree on larger
// ones. Bytes are read in little-endian order, so that hashes are the same on every machine. Tests
// compare hash_key() with the C library libmurmurhash.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloom {

inline constexpr std::uint32_t kMaxSeed = 0x7fffffff;

struct Hash {
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;

  bool operator==(const Hash&) const = default;
  bool operator<(const Hash& other) const { return h1 != other.h1 ? h1 < other.h1 : h2 < other.h2; }
};

// Returns the hash of the bytes of `key`. Requires: key.size() < 2^32, which holds for every SQLite
// value.
Hash hash_key(std::string_view key, std::uint32_t seed);

}  // namespace bloom
