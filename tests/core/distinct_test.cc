#include "core/operations/distinct.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/support/keys.h"

namespace bloom {
namespace {

void expect_same(DistinctHashes& distinct, const std::map<Hash, unsigned>& exact) {
  ASSERT_EQ(distinct.finish(), exact.size());
  std::size_t i = 0;
  for (const auto& [hash, times] : exact) {
    ASSERT_EQ(distinct.hashes()[i], hash);
    ASSERT_EQ(distinct.times(i), std::min(times, 15U));
    ++i;
  }
}

TEST(DistinctHashes, EqualThoseOfAnExactMapInOrder) {
  std::mt19937_64 random(3);
  for (const std::uint64_t universe : {1ULL, 2ULL, 300ULL, 5'000ULL, 1ULL << 40}) {
    for (const int count : {0, 1, 255, 256, 257, 1000, 60'000}) {
      DistinctHashes distinct;
      std::map<Hash, unsigned> exact;
      for (int i = 0; i < count; ++i) {
        const Hash hash = test::key_hash(random() % universe);
        distinct.add({&hash, 1});
        ++exact[hash];
      }
      expect_same(distinct, exact);
    }
  }
}

TEST(DistinctHashes, DistinguishHashesThatShareAHalf) {
  DistinctHashes distinct;
  std::map<Hash, unsigned> exact;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Hash hash{i % 7, i % 11};
    distinct.add({&hash, 1});
    ++exact[hash];
  }
  expect_same(distinct, exact);
}

}  // namespace
}  // namespace bloom
