#include "core/support/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "core/operations/distinct.h"

namespace bloom {
namespace {

// Also tests memory that was used before, and sizes at which the system commits pages lazily.
TEST(Memory, IsZeroedAndAlignedToACacheLine) {
  for (const std::uint64_t size : {0ULL, 1ULL, 64ULL, 1264ULL, 200'000ULL, (4ULL << 20) - 128,
                                   (4ULL << 20) - 127, 9'000'001ULL}) {
    for (const Access access : {Access::dense, Access::sparse, Access::dense}) {
      const OwnedBytes bytes = zeroed_bytes(size, access);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes.get()) % kCacheLineBytes, 0U) << size;
      ASSERT_TRUE(
          std::all_of(bytes.get(), bytes.get() + size, [](auto byte) { return byte == 0; }));
      std::fill_n(bytes.get(), size, std::uint8_t{0xff});
    }
  }
}

TEST(Memory, OfAnImpossibleSizeThrowsBadAlloc) {
  EXPECT_THROW(zeroed_bytes(std::numeric_limits<std::uint64_t>::max(), Access::dense),
               std::bad_alloc);
  EXPECT_THROW(zeroed_bytes(std::uint64_t{1} << 62, Access::sparse), std::bad_alloc);
  free_bytes(nullptr);
}

// The bytes that the limit was told of last. The limit allows 10 MB in all.
std::uint64_t last_counted = 0;
std::uint64_t below_10_mb(std::uint64_t counted) {
  constexpr std::uint64_t kLimit = 10'000'000;
  last_counted = counted;
  return counted < kLimit ? kLimit - counted : 0;
}

class LimitedMemory : public testing::Test {
 protected:
  void SetUp() override {
    set_memory_limit(below_10_mb);
    available_memory();
    counted_before_ = last_counted;
  }
  void TearDown() override {
    available_memory();
    EXPECT_EQ(last_counted, counted_before_);  // nothing stays counted
    set_memory_limit(nullptr);
    EXPECT_EQ(available_memory(), std::numeric_limits<std::uint64_t>::max());
  }

 private:
  std::uint64_t counted_before_ = 0;
};

TEST_F(LimitedMemory, OfBytes) {
  const OwnedBytes most = zeroed_bytes(9'000'000, Access::dense);
  EXPECT_LT(available_memory(), 1'000'000U);
  EXPECT_THROW(zeroed_bytes(2'000'000, Access::sparse), std::bad_alloc);
  EXPECT_THROW(zeroed_bytes(std::numeric_limits<std::uint64_t>::max(), Access::dense),
               std::bad_alloc);
  EXPECT_NE(zeroed_bytes(100'000, Access::dense), nullptr);
}

TEST_F(LimitedMemory, OfManySmallBlocks) {
  std::vector<OwnedBytes> blocks;
  blocks.reserve(20'000);
  EXPECT_THROW(
      for (int i = 0; i < 20'000; ++i) { blocks.push_back(zeroed_bytes(1000, Access::dense)); },
      std::bad_alloc);
  EXPECT_LT(available_memory(), 100'000U);
}

TEST_F(LimitedMemory, OfContainers) {
  CountedVector<std::uint64_t> numbers(1'000'000);
  EXPECT_THROW(numbers.resize(1'500'000), std::bad_alloc);
  EXPECT_EQ(numbers.size(), 1'000'000U);
  EXPECT_THROW(CountedString(3'000'000, 'x'), std::bad_alloc);
}

TEST_F(LimitedMemory, OfDistinctHashes) {
  DistinctHashes hashes;
  const auto add = [&] {
    for (std::uint64_t i = 0; i < 2'000'000; ++i) {
      const Hash hash{i * 0x9e3779b97f4a7c15, i};
      hashes.add({&hash, 1});
    }
  };
  EXPECT_THROW(add(), std::bad_alloc);
}

}  // namespace
}  // namespace bloom
