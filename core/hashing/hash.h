// The hash that decides every stored bit: MurmurHash3_x64_128 (Austin Appleby), whose two 64-bit
// halves are the two hash functions of the Kirsch-Mitzenmacher family.
//
// It must never change: a filter written with one hash and asked with another answers "absent".
// Seeds are limited to 31 bits because other implementations differ above. Bytes are read in
// little-endian order everywhere, so that the values are the same on every machine. Tests compare
// hash_key() with the C library libmurmurhash.
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

// REQUIRES: key.size() < 2^32, as every SQLite value is.
Hash hash_key(std::string_view key, std::uint32_t seed);

}  // namespace bloom
