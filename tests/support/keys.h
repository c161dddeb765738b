// Keys for tests: as many as wanted, all different, the same in every run.
#pragma once

#include <cstdint>

#include "core/hashing/hash.h"
#include "core/hashing/key.h"

namespace bloom::test {

// S. Vigna's splitmix64: a bijection of 64 bits that scatters neighbours.
inline std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The hash of the i-th integer key, as bloom_add(filter, i) makes it.
inline Hash key_hash(std::uint64_t i, std::uint32_t seed = 0) {
  return hash_key(NumberText(static_cast<std::int64_t>(i)).view(), seed);
}

}  // namespace bloom::test
