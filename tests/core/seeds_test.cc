// Worked examples from the literature.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/filter/filter.h"

namespace bloom {
namespace {

// The partitioned filter of the textbook: three arrays of five bits, and the positions that its
// three hash functions give for three URLs.
constexpr Shape kThreeArraysOfFive{.kind = Kind::partitioned, .hashes = 3, .cells = 15};
using Buckets = std::array<std::uint64_t, 3>;
constexpr Buckets kVirus = {2, 1, 4};
constexpr Buckets kNotSuspicious = {1, 0, 4};
constexpr Buckets kNormalSite = {2, 0, 4};

Buckets buckets_of(Hash hash) {
  Buckets buckets{};
  std::size_t i = 0;
  Geometry(kThreeArraysOfFive).for_each_cell(hash, [&](std::uint64_t cell) {
    buckets[i] = cell - 5 * i;
    ++i;
  });
  return buckets;
}

// Returns the hash of a key with the positions that the textbook gives for `url`. One key in 125
// has them.
Hash key_like(const std::string& url, const Buckets& buckets) {
  for (int i = 0;; ++i) {
    const Hash hash = hash_key(url + "#" + std::to_string(i), 0);
    if (buckets_of(hash) == buckets) {
      return hash;
    }
  }
}

std::string state(const Filter& filter) {
  std::string bits;
  for (std::uint64_t i = 0; i < 15; ++i) {
    bits += filter.view().cell(i) != 0 ? '1' : '0';
    bits += i % 5 == 4 && i < 14 ? " " : "";
  }
  return bits;
}

TEST(Seeds, TheTextbookExampleOfThreeArrays) {
  Filter filter(Header{.shape = kThreeArraysOfFive, .capacity = 0, .fpr = 0});
  EXPECT_EQ(state(filter), "00000 00000 00000");

  const Hash virus = key_like("thisisavirus.com", kVirus);
  EXPECT_TRUE(filter.add(virus));
  EXPECT_EQ(state(filter), "00100 01000 00001");
  EXPECT_TRUE(filter.may_contain(virus));
  EXPECT_FALSE(filter.add(virus)) << "adding again changes nothing";

  EXPECT_TRUE(filter.add(key_like("totallynotsuspicious.com", kNotSuspicious)));
  EXPECT_EQ(state(filter), "01100 11000 00001");

  EXPECT_TRUE(filter.may_contain(key_like("verynormalsite.com", kNormalSite)))
      << "the book's false positive";
}

// P(some counter reaches 16) <= m (e ln 2 / 16)^16.
// The slides and the paper state this bound as m * 1.37e-15.
TEST(Seeds, FourBitsAreEnoughForACounter) {
  const double bound = std::pow(std::exp(1.0) * std::log(2.0) / 16, 16);
  EXPECT_NEAR(bound, 1.37e-15, 0.005e-15);
}

TEST(Seeds, HalvingMasksTheTopBitUnderAnotherNumbering) {
  // The literature says: "OR the first and second half, mask the highest bit". There, positions
  // come from the low bits of the hash, and cells c and c + m/2 are merged. With multiply-shift,
  // cells 2c and 2c + 1 are merged. Both merge the two positions that differ only in the bit that
  // the half lacks.
  constexpr std::uint64_t m = 64;
  for (std::uint64_t x = 1; x != 0; x <<= 1) {
    EXPECT_EQ(reduce(x * 0x9e3779b97f4a7c15, m) / 2, reduce(x * 0x9e3779b97f4a7c15, m / 2));
  }
}

}  // namespace
}  // namespace bloom
