#include "core/murmur3.h"

#include <bit>
#include <cstddef>

#include "core/bytes.h"

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

// Up to eight bytes of the tail, the missing ones zero.
std::uint64_t load_tail(const std::uint8_t* from, std::size_t size) {
  std::uint64_t k = 0;
  for (std::size_t i = 0; i < size && i < 8; ++i) {
    k |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  }
  return k;
}

}  // namespace

Hash murmur3_x64_128(std::string_view key, std::uint32_t seed) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(key.data());
  std::size_t left = key.size();
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;

  for (; left >= 16; bytes += 16, left -= 16) {
    h1 ^= mix_k1(load_le<std::uint64_t>(bytes));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= mix_k2(load_le<std::uint64_t>(bytes + 8));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  if (left > 8) {
    h2 ^= mix_k2(load_tail(bytes + 8, left - 8));
  }
  if (left > 0) {
    h1 ^= mix_k1(load_tail(bytes, left));
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
