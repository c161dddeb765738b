#include "core/support/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <new>

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

}  // namespace
}  // namespace bloom
