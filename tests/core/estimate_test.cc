#include "core/operations/estimate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"

namespace bloom {
namespace {

using test::key_hash;

Filter built(const Header& header, std::uint64_t n) {
  Filter filter(header);
  for (std::uint64_t key = 0; key < n; ++key) {
    filter.add(key_hash(key, header.shape.seed));
  }
  return filter;
}

TEST(Estimate, CountsCellsExactly) {
  for (const Shape& shape : test::small_shapes()) {
    const Filter filter = built({shape, 0, 0}, 30);
    std::uint64_t used = 0;
    std::uint64_t saturated = 0;
    for (std::uint64_t i = 0; i < shape.cells; ++i) {
      used += filter.view().cell(i) != 0 ? 1U : 0U;
      saturated += filter.view().cell(i) == 15 ? 1U : 0U;
    }
    const Estimate now = estimate(filter.view());
    EXPECT_DOUBLE_EQ(now.fill * static_cast<double>(shape.cells), static_cast<double>(used));
    EXPECT_EQ(now.saturated, saturated) << shape;
  }
}

TEST(Estimate, OfKeysAndRateAreRightFromEmptyToOverfull) {
  for (const Kind kind : kKinds) {
    for (const std::uint64_t capacity : {1'000ULL, 100'000ULL}) {
      const Header header = size_filter(capacity, 0.01, kind);
      for (const double load : {0.0, 0.01, 0.3, 1.0, 2.0}) {
        const auto n = static_cast<std::uint64_t>(load * static_cast<double>(capacity));
        const Estimate now = estimate(built(header, n).view());
        const auto exact = static_cast<double>(n);
        EXPECT_NEAR(now.keys, exact, 0.03 * exact + 3) << header.shape;
        const double predicted = predicted_fpr(header.shape, n);
        EXPECT_NEAR(now.fpr, predicted, 0.2 * predicted + 1e-12) << header.shape << " " << load;
        EXPECT_EQ(exceeds_capacity(header, now.keys), load > 1) << header.shape << " " << load;
      }
    }
  }
}

TEST(Estimate, OfFullFiltersIsFinite) {
  for (const Shape& shape : test::small_shapes()) {
    if (shape.cells < 2000) {
      const Estimate now = estimate(built({shape, 0, 0}, 20'000).view());
      EXPECT_GT(now.keys, 0) << shape;
      EXPECT_LT(now.keys, 1e6) << shape;
      EXPECT_EQ(now.fpr, 1) << shape;
      EXPECT_FALSE(now.keys_known) << shape;
      EXPECT_TRUE(is_overfull({shape, 0, 0}, now)) << shape;
    }
  }
}

TEST(Estimate, OfKeysIsKnownWhileMostBlocksHaveAnEmptyCell) {
  const Shape shape{.kind = Kind::standard, .hashes = 2, .cells = 4096, .block = 64};
  for (const auto& [keys, known] : std::map<std::uint64_t, bool>{
           {0, true}, {1000, true}, {6000, true}, {12'000, false}, {20'000, false}}) {
    const Estimate now = estimate(built({shape, 0, 0}, keys).view());
    EXPECT_EQ(now.keys_known, known) << keys << " " << now.keys;
    EXPECT_EQ(is_overfull({shape, 0, 0}, now), !known) << keys;
  }
}

TEST(Estimate, OfOneCellIsAtLeastOneKey) {
  const Header one_cell{.shape = {.kind = Kind::standard, .hashes = 3, .cells = 1}};
  EXPECT_EQ(estimate(built(one_cell, 5).view()).keys, 1);
  EXPECT_EQ(estimate(built(one_cell, 0).view()).keys, 0);
}

TEST(Estimate, NothingIsOverfullWithoutACapacity) {
  EXPECT_FALSE(
      exceeds_capacity({.shape = {.kind = Kind::standard, .hashes = 7, .cells = 960}}, 1e9));
}

}  // namespace
}  // namespace bloom
