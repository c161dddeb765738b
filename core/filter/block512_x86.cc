// Kernels of core/filter/block512.h for x86-64: AVX2, and AVX-512 (F and DQ).

#include <array>

#include "core/filter/block512.h"
#include "core/support/cpu.h"

// Not by GCC for Windows, where it stores vectors on the stack as if they were aligned (GCC bug
// 54412).
#if defined(__x86_64__) && defined(__GNUC__) && (defined(__clang__) || !defined(_WIN32))

// GCC 12 warns about the undefined operands in its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

namespace bloom {
namespace {

// x_i of core/layout/geometry.h is kPowers.of[i] * h2. With the powers precomputed, the x_i do not
// depend on each other and can be computed in parallel.
struct alignas(64) Powers {
  std::array<std::uint64_t, 256> of{};
  constexpr Powers() {
    std::uint64_t power = 1;
    for (auto& p : of) {
      p = power;
      power *= kMcgMultiplier;
    }
  }
};
constexpr Powers kPowers;
static_assert(kMaxHashes <= 256);

constexpr int kPositionShift = 64 - 9;  // reduce(x, 512) is the top 9 bits of x
constexpr int kWordShift = 64 - 3;      // the top 3 of them select one of 8 words

#define BLOOM_AVX2 __attribute__((target("avx2")))
#define BLOOM_AVX512 __attribute__((target("avx512f,avx512dq")))

// Returns a * b modulo 2^64 in each of the four 64-bit lanes.
BLOOM_AVX2 inline __m256i multiply(__m256i a, __m256i b) {
  const __m256i crossed = _mm256_mullo_epi32(a, _mm256_shuffle_epi32(b, 0xb1));
  const __m256i high = _mm256_add_epi32(crossed, _mm256_srli_epi64(crossed, 32));
  return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(high, 32));
}

// Returns whether the first `hashes` cells of the probe sequence that starts with h2 are all set in
// `block`.
BLOOM_AVX2 inline bool block_may_contain_avx2(const std::uint8_t* block, std::uint64_t h2,
                                              std::uint32_t hashes) {
  const __m256i x0 = _mm256_set1_epi64x(static_cast<long long>(h2));
  const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
  for (std::uint32_t i = 0; i < hashes; i += 4) {
    const auto* powers = reinterpret_cast<const __m256i*>(&kPowers.of[i]);
    const __m256i x = multiply(x0, _mm256_load_si256(powers));
    const __m256i words = _mm256_i64gather_epi64(reinterpret_cast<const long long*>(block),
                                                 _mm256_srli_epi64(x, kWordShift), 8);
    // Moves the bit of each cell to the sign bit of its lane, where movemask_pd reads it.
    const __m256i bits = _mm256_srli_epi64(_mm256_slli_epi64(x, 3), 58);
    const __m256i cells = _mm256_sllv_epi64(words, _mm256_sub_epi64(_mm256_set1_epi64x(63), bits));
    const __m256i unused = _mm256_cmpgt_epi64(
        lanes, _mm256_set1_epi64x(static_cast<long long>(hashes) - static_cast<long long>(i) - 1));
    if (_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(cells, unused))) != 15) {
      return false;
    }
  }
  return true;
}

BLOOM_AVX2 bool may_contain_avx2(const Geometry& geometry, Hash hash, const std::uint8_t* cells,
                                 std::uint64_t first) {
  return block_may_contain_avx2(cells + first / 8, hash.h2, geometry.hashes());
}

BLOOM_AVX2 void may_contain_batch_avx2(const Geometry& geometry, Kernel::Hashes hashes,
                                       const std::uint8_t* cells, std::uint8_t* out) {
  for_each_block512(
      geometry, hashes, cells, [&](std::size_t i, const std::uint8_t* block) BLOOM_AVX2 {
        out[i] = block_may_contain_avx2(block, hashes[i].h2, geometry.hashes()) ? 1 : 0;
      });
}

// The same with AVX-512.
BLOOM_AVX512 inline bool block_may_contain_avx512(const std::uint8_t* block, std::uint64_t h2,
                                                  std::uint32_t hashes) {
  const __m512i words = _mm512_loadu_si512(block);
  const __m512i x0 = _mm512_set1_epi64(static_cast<long long>(h2));
  const __m512i one = _mm512_set1_epi64(1);
  for (std::uint32_t i = 0; i < hashes; i += 8) {
    const __m512i x = _mm512_mullo_epi64(x0, _mm512_load_si512(&kPowers.of[i]));
    const __m512i word = _mm512_permutexvar_epi64(_mm512_srli_epi64(x, kWordShift), words);
    // rolv takes its count modulo 64. So only the low 6 of the 9 bits count, which select the bit
    // in the word.
    const __m512i bit = _mm512_rolv_epi64(one, _mm512_srli_epi64(x, kPositionShift));
    const std::uint32_t count = std::min<std::uint32_t>(hashes - i, 8);
    const auto in_use = static_cast<__mmask8>((1U << count) - 1);
    if (_mm512_mask_testn_epi64_mask(in_use, word, bit) != 0) {
      return false;
    }
  }
  return true;
}

BLOOM_AVX512 bool may_contain_avx512(const Geometry& geometry, Hash hash, const std::uint8_t* cells,
                                     std::uint64_t first) {
  return block_may_contain_avx512(cells + first / 8, hash.h2, geometry.hashes());
}

BLOOM_AVX512 void may_contain_batch_avx512(const Geometry& geometry, Kernel::Hashes hashes,
                                           const std::uint8_t* cells, std::uint8_t* out) {
  for_each_block512(
      geometry, hashes, cells, [&](std::size_t i, const std::uint8_t* block) BLOOM_AVX512 {
        out[i] = block_may_contain_avx512(block, hashes[i].h2, geometry.hashes()) ? 1 : 0;
      });
}

}  // namespace

void add_x86_block512_kernels(Block512Kernels& kernels, const Kernel& scalar) {
  if (cpu_features().avx2) {
    kernels.add(
        {"avx2",
         {may_contain_avx2, scalar.add, nullptr, may_contain_batch_avx2, scalar.add_batch}});
  }
  if (cpu_features().avx512) {
    kernels.add(
        {"avx512",
         {may_contain_avx512, scalar.add, nullptr, may_contain_batch_avx512, scalar.add_batch}});
  }
}

}  // namespace bloom

#else

namespace bloom {

void add_x86_block512_kernels(Block512Kernels&, const Kernel&) {}

}  // namespace bloom

#endif
