#include "core/operations/hyperloglog.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/keys.h"

namespace bloom::test {
namespace {

// The standard error is 1.04 / sqrt(2^14) = 0.8 %. The keys are the same in every run.
TEST(HyperLogLog, IsTheNumberOfDistinctKeys) {
  HyperLogLog keys;
  EXPECT_EQ(keys.estimate(), 0);
  std::uint64_t n = 0;
  for (const std::uint64_t goal :
       {1U, 2U, 10U, 100U, 5'000U, 30'000U, 50'000U, 300'000U, 2'000'000U}) {
    for (; n < goal; ++n) {
      keys.add(key_hash(n));
      keys.add(key_hash(n / 2));
    }
    EXPECT_NEAR(keys.estimate() / static_cast<double>(n), 1, 0.03) << n;
  }
}

// An attacker who chooses the hashes can reach every register with few of them.
TEST(HyperLogLog, IsFiniteForAllHashes) {
  for (const std::uint64_t h2 : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    HyperLogLog keys;
    for (std::uint64_t i = 0; i < 1U << 14; ++i) {
      keys.add({i << 50, h2});
    }
    EXPECT_TRUE(std::isfinite(keys.estimate())) << h2;
    EXPECT_GE(keys.estimate(), 1 << 14) << h2;
  }
}

}  // namespace
}  // namespace bloom::test
