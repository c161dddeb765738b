// Every implementation of lookups and changes, compared with the positions of
// core/layout/geometry.h.

#include "core/filter/array_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "core/filter/block512.h"
#include "core/filter/filter.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

using test::bytes_of;
using test::key_hash;

// The small shapes, and some larger than kMinPrefetchBytes, which look up many keys together with
// prefetching.
std::vector<Shape> shapes() {
  using enum Kind;
  std::vector<Shape> all = test::small_shapes();
  constexpr std::uint64_t kPages = 300;
  all.insert(
      all.end(),
      {
          {.kind = standard, .hashes = 7, .cells = kPages * 31744, .block = 31744},
          {.kind = standard, .hashes = 6, .cells = 9'000'000},
          {.kind = standard, .hashes = 255, .cells = 9'000'001},
          {.kind = standard, .hashes = 16, .cells = std::uint64_t{20000} * 512, .block = 512},
          {.kind = counting, .hashes = 7, .cells = kPages * 7936, .block = 7936},
          {.kind = counting, .hashes = 33, .cells = 2'500'001},
          {.kind = partitioned, .hashes = 8, .cells = kPages * 31744, .block = 31744},
          {.kind = partitioned, .hashes = 7, .cells = 9'000'012},
      });
  return all;
}

std::vector<Hash> hashes_of(std::uint64_t first, std::size_t count, std::uint32_t seed) {
  std::vector<Hash> hashes;
  for (std::size_t i = 0; i < count; ++i) {
    hashes.push_back(key_hash(first + i, seed));
  }
  return hashes;
}

bool holds_all(const FilterView& filter, Hash hash) {
  bool all = true;
  filter.geometry().for_each_cell(hash, [&](auto cell) { all &= filter.cell(cell) != 0; });
  return all;
}

// Returns the number of keys that leaves about half of the cells empty, but at least one.
std::size_t keys_for(const Shape& shape) {
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(shape.cells / shape.hashes * 2 / 3, 1, 20'000));
}

TEST(ArrayFilter, ChecksTheCellsOfTheGeometry) {
  for (const Shape& shape : shapes()) {
    Filter filter(Header{.shape = shape});
    for (Hash hash : hashes_of(0, keys_for(shape), shape.seed)) {
      filter.add(hash);
    }
    const auto looked_up = hashes_of(0, 2 * keys_for(shape) + 77, shape.seed);
    std::vector<std::uint8_t> answers(looked_up.size(), 2);
    filter.view().may_contain(looked_up, answers.data());
    for (std::size_t i = 0; i < looked_up.size(); ++i) {
      const bool expected = holds_all(filter.view(), looked_up[i]);
      ASSERT_EQ(filter.may_contain(looked_up[i]), expected) << shape << ", key " << i;
      ASSERT_EQ(answers[i], expected ? 1 : 0) << shape << ", key " << i;
    }
  }
}

TEST(ArrayFilter, AddingABatchEqualsAddingEachKey) {
  for (const Shape& shape : shapes()) {
    const auto hashes = hashes_of(0, keys_for(shape), shape.seed);
    Filter together(Header{.shape = shape});
    together.add(hashes);
    Filter each(Header{.shape = shape});
    for (Hash hash : hashes) {
      // The cells before the addition determine whether a cell changes.
      const bool known = shape.kind != Kind::counting && holds_all(each.view(), hash);
      ASSERT_EQ(each.add(hash), !known || shape.kind == Kind::counting) << shape;
    }
    ASSERT_EQ(bytes_of(together), bytes_of(each)) << shape;
  }
}

TEST(ArrayFilter, UsesTheKernelThatTheEnvironmentNames) {
  const char* const named = std::getenv("BLOOM_KERNEL");
  std::string_view expected = block512_kernels().back().name;
  for (const Block512Kernel& kernel : block512_kernels()) {
    if (named != nullptr && kernel.name == named) {
      expected = kernel.name;
    }
  }
  EXPECT_EQ(block512_kernel().name, expected);
}

// Blocks of all densities, at addresses of all alignments.
TEST(ArrayFilter, EachKernelHasTheAnswersOfTheScalarKernel) {
  std::mt19937_64 random(5);
  ASSERT_EQ(block512_kernels().front().name, "scalar");
  for (const std::uint32_t hashes : {1U, 3U, 4U, 5U, 7U, 8U, 9U, 12U, 16U, 17U, 64U, 255U}) {
    const Geometry geometry(
        {.kind = Kind::standard, .hashes = hashes, .cells = 4096, .block = 512});
    for (int round = 0; round < 200; ++round) {
      std::vector<std::uint8_t> bytes(8 * kCacheLineBytes + 64);
      std::uint8_t* const cells = bytes.data() + round % 64;
      for (std::size_t i = 0; i < 8 * kCacheLineBytes; ++i) {
        const auto word = random();
        const auto some = static_cast<std::uint8_t>(word | word >> 8 | word >> 16);
        cells[i] = round % 3 == 0 ? static_cast<std::uint8_t>(word) : some;
      }
      const std::uint64_t key = random();
      const auto looked_up = hashes_of(key >> 2, 100, 0);
      geometry.for_each_cell(looked_up[static_cast<std::size_t>(round % 100)],
                             [&](auto cell) { Bits::add(cells, cell); });
      for (const Block512Kernel& kernel : block512_kernels()) {
        std::vector<std::uint8_t> answers(looked_up.size(), 2);
        kernel.kernel.may_contain_batch(geometry, looked_up, cells, answers.data());
        for (std::size_t i = 0; i < looked_up.size(); ++i) {
          bool expected = true;
          geometry.for_each_cell(looked_up[i],
                                 [&](auto cell) { expected &= Bits::get(cells, cell) != 0; });
          ASSERT_EQ(kernel.kernel.may_contain(geometry, looked_up[i], cells,
                                              geometry.first_cell(looked_up[i])),
                    expected)
              << kernel.name << " k=" << hashes;
          ASSERT_EQ(answers[i], expected ? 1 : 0) << kernel.name << " k=" << hashes;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bloom
