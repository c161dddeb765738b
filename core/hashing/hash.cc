#include "core/hashing/hash.h"

#include <bit>
#include <cassert>
#include <cstddef>

#include "core/support/bytes.h"

namespace bloom {
namespace {

constexpr std::uint64_t kC1 = 0x87c37b91114253d5;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937f;

std::uint64_t mix_k1(std::uint64_t k) { return std::rotl(k * kC1, 31) * kC2; }
std::uint64_t mix_k2(std::uint64_t k) { return std::rotl(k * kC2, 33) * kC1; }

std::uint64_t finalize(std::uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccd;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53;
  k ^= k >> 33;
  return k;
}

// Returns the last `size` bytes before `end` as a little-endian word, zero-extended to 8 bytes.
// Requires: 1 <= size <= 8, and the 8 bytes before `end` are readable.
std::uint64_t load_before(const std::uint8_t* end, std::size_t size) {
  assert(1 <= size && size <= 8);
  return load_le<std::uint64_t>(end - 8) >> (64 - 8 * size);
}

// Returns all bytes of a key of 1 to 7 bytes as a little-endian word, zero-extended. load_before()
// would read in front of so short a key, so this function combines overlapping loads within the
// key.
std::uint64_t load_short(const std::uint8_t* from, std::size_t size) {
  if (size >= 4) {
    const std::uint64_t high = load_le<std::uint32_t>(from + size - 4);
    return load_le<std::uint32_t>(from) | high << (8 * (size - 4));
  }
  const std::uint64_t middle = from[size / 2];
  const std::uint64_t last = from[size - 1];
  return from[0] | middle << (8 * (size / 2)) | last << (8 * (size - 1));
}

}  // namespace

Hash hash_key(std::string_view key, std::uint32_t seed) {
  assert(std::uint64_t{key.size()} < std::uint64_t{1} << 32);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(key.data());
  const std::uint8_t* const end = bytes + key.size();
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;

  std::size_t left = key.size();
  for (; left >= 16; bytes += 16, left -= 16) {
    h1 ^= mix_k1(load_le<std::uint64_t>(bytes));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= mix_k2(load_le<std::uint64_t>(bytes + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  if (left > 8) {
    h2 ^= mix_k2(load_before(end, left - 8));
    h1 ^= mix_k1(load_le<std::uint64_t>(bytes));
  } else if (left > 0) {
    h1 ^= mix_k1(key.size() < 8 ? load_short(bytes, left) : load_before(end, left));
  }

  h1 ^= key.size();
  h2 ^= key.size();
  h1 += h2;
  h2 += h1;
  h1 = finalize(h1);
  h2 = finalize(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

}  // namespace bloom
