#include "core/layout/geometry.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/layout/halving.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"

namespace bloom {
namespace {

using test::key_hash;
using test::small_shapes;
using test::splitmix64;

std::vector<std::uint64_t> positions(const Shape& shape, Hash hash) {
  std::vector<std::uint64_t> cells;
  Geometry(shape).for_each_cell(hash, [&](std::uint64_t i) { cells.push_back(i); });
  return cells;
}

// An independent implementation of the formulas in docs/format.md.
std::vector<std::uint64_t> expected_positions(const Shape& shape, Hash hash) {
  std::vector<std::uint64_t> cells;
  const std::uint64_t blocks = shape.block == 0 ? 1 : shape.cells / shape.block;
  const std::uint64_t in_block = shape.cells / blocks;
  const bool sliced = shape.kind == Kind::partitioned;
  const std::uint64_t span = sliced ? in_block / shape.hashes : in_block;
  std::uint64_t remixed = hash.h2;
  for (std::uint64_t i = 0; i < shape.hashes; ++i) {
    const std::uint64_t x = shape.block == 0 ? hash.h1 + i * hash.h2 : remixed;
    remixed *= 0xf1357aea2e62a9c5;
    const std::uint64_t start = shape.block == 0 ? 0 : multiply_high_portable(hash.h1, blocks);
    cells.push_back(start * in_block + (sliced ? i * span : 0) + multiply_high_portable(x, span));
  }
  return cells;
}

TEST(Geometry, PositionsFollowTheDocumentedFormulas) {
  for (const Shape& shape : small_shapes()) {
    for (std::uint64_t key = 0; key < 200; ++key) {
      ASSERT_EQ(positions(shape, key_hash(key)), expected_positions(shape, key_hash(key))) << shape;
    }
  }
}

TEST(Geometry, EveryCellIsReachedAndNoneBeyond) {
  for (const Shape& shape : small_shapes()) {
    if (shape.cells > 2000) {
      continue;
    }
    std::vector<bool> reached(static_cast<std::size_t>(shape.cells));
    for (std::uint64_t key = 0; key < 20'000; ++key) {
      for (const std::uint64_t cell : positions(shape, key_hash(key))) {
        ASSERT_LT(cell, shape.cells) << shape;
        reached[static_cast<std::size_t>(cell)] = true;
      }
    }
    EXPECT_EQ(std::count(reached.begin(), reached.end(), false), 0) << shape;
  }
}

TEST(Geometry, PositionsOfAHalvedShapeAreThoseOfItsDouble) {
  for (Shape shape : small_shapes()) {
    while (is_halvable(shape)) {
      const bool by_blocks = halving_method(shape) == HalvingMethod::merge_blocks;
      const Shape half = halved(shape);
      ASSERT_EQ(half.cells * 2, shape.cells);
      for (std::uint64_t key = 0; key < 100; ++key) {
        auto cells = positions(shape, key_hash(key));
        for (std::uint64_t& cell : cells) {
          cell = by_blocks ? cell / shape.block / 2 * shape.block + cell % shape.block : cell / 2;
        }
        ASSERT_EQ(positions(half, key_hash(key)), cells) << shape;
      }
      shape = half;
    }
  }
}

TEST(Geometry, BeyondFourBillionCellsPositionsStayUniform) {
  const Shape shape{.kind = Kind::standard, .hashes = 7, .cells = kMaxCells, .block = 31744};
  const Shape aligned{
      .kind = Kind::standard, .hashes = 7, .cells = kMaxCells / 31744 * 31744, .block = 31744};
  EXPECT_TRUE(broken_rule(shape).has_value());
  ASSERT_FALSE(broken_rule(aligned).has_value());
  std::uint64_t above = 0;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    above += positions(aligned, key_hash(key))[0] > kMaxCells / 2 ? 1U : 0U;
  }
  EXPECT_NEAR(static_cast<double>(above), 5000, 250);
}

TEST(Geometry, MultiplyHighFromHalvesIsTheWideProduct) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t a = splitmix64(2 * i) >> (i % 64);
    const std::uint64_t b = splitmix64(2 * i + 1) >> (i / 64 % 64);
    ASSERT_EQ(multiply_high_portable(a, b), reduce(a, b));
  }
  EXPECT_EQ(multiply_high_portable(~0ULL, ~0ULL), ~0ULL - 1);
}

TEST(Geometry, BrokenRulesNameArgumentRuleAndValue) {
  const auto rule = [](Shape shape) {
    const auto broken = broken_rule(shape);
    return broken ? broken->subject + "|" + broken->rule + "|" + broken->value : "";
  };
  using enum Kind;
  EXPECT_EQ(rule({.kind = standard, .hashes = 7, .cells = 0}), "m|between 1 and 1099511627776|0");
  EXPECT_EQ(rule({.kind = standard, .hashes = 0, .cells = 8}), "k|between 1 and 255|0");
  EXPECT_EQ(rule({.kind = standard, .hashes = 256, .cells = 8}), "k|between 1 and 255|256");
  EXPECT_EQ(rule({.kind = standard, .hashes = 1, .cells = 8, .block = 3}),
            "block|0 or a divisor of m = 8|3");
  EXPECT_EQ(rule({.kind = standard, .hashes = 1, .cells = 8, .block = 16}),
            "block|0 or a divisor of m = 8|16");
  EXPECT_EQ(rule({.kind = standard, .hashes = 1, .cells = 8, .seed = 1U << 31}),
            "seed|between 0 and 2147483647|2147483648");
  EXPECT_EQ(rule({.kind = partitioned, .hashes = 3, .cells = 16}),
            "m|a multiple of k = 3 (a partitioned filter has k equal slices)|16");
  EXPECT_EQ(rule({.kind = partitioned, .hashes = 3, .cells = 16, .block = 8}),
            "block|a multiple of k = 3 (a partitioned filter has k equal slices)|8");
  EXPECT_EQ(rule({.kind = standard, .hashes = 255, .cells = kMaxCells, .seed = kMaxSeed}), "");
}

}  // namespace
}  // namespace bloom
