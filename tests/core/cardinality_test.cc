#include "core/cardinality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/keys.h"

namespace bloom::test {
namespace {

// The standard error is 1.04 / sqrt(2^14) = 0.8 %; these keys are the same in every run.
TEST(Cardinality, IsTheNumberOfDistinctKeys) {
  Cardinality keys;
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

}  // namespace
}  // namespace bloom::test
