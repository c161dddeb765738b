#include "core/layout/checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "core/filter/filter.h"
#include "core/hashing/hash.h"
#include "core/sizing/sizing.h"
#include "core/support/bytes.h"
#include "core/support/multiply.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

using test::key_hash;
using test::small_shapes;
using test::splitmix64;
using Bytes = std::vector<std::uint8_t>;

std::uint64_t checksum(const Bytes& bytes) { return checksum_of_cells(bytes.data(), bytes.size()); }

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(splitmix64(i));
  }
  return bytes;
}

// As docs/format.md specifies it, pair by pair.
std::uint64_t specified(Bytes bytes) {
  bytes.resize((bytes.size() + 31) / 32 * 32);
  ProductSumPortable sum;
  std::uint64_t key = 1;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    key *= 0xf1357aea2e62a9c5;
    sum.add_product(load_le<std::uint64_t>(&bytes[at]) + key,
                    load_le<std::uint64_t>(&bytes[at + 8]) + (key << 32 | key >> 32));
  }
  Bytes total(16);
  store_le(total.data(), sum.low());
  store_le(&total[8], sum.high());
  return hash_key({reinterpret_cast<const char*>(total.data()), 16}, 0).h1;
}

Bytes full_filter(const Shape& shape) {
  Filter filter(Header{.shape = shape});
  for (std::uint64_t key = 0; key < shape.cells / shape.hashes / 2; ++key) {
    filter.add(key_hash(key, shape.seed));
  }
  return test::bytes_of(filter);
}

// Returns whether a stored filter is refused, when opened or by its checksum.
bool is_refused(const Bytes& stored) {
  const auto opened = open_filter(stored);
  return std::holds_alternative<Problem>(opened) || find_damage(std::get<FilterView>(opened));
}

TEST(Checksum, ProductsAreAddedAsSpecifiedOnEveryMachine) {
  ProductSum sum;
  ProductSumPortable portable;
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t a = i % 3 == 0 ? ~0ULL : random();
    const std::uint64_t b = i % 5 == 0 ? ~0ULL : random();
    sum.add_product(a, b);
    portable.add_product(a, b);
    if (i % 7 == 0) {
      sum.add(ProductSum(sum));
      portable.add(ProductSumPortable(portable));
    }
    ASSERT_EQ(sum.low(), portable.low());
    ASSERT_EQ(sum.high(), portable.high());
  }
}

TEST(Checksum, IsTheSpecifiedOneForEverySize) {
  for (std::size_t size = 0; size < 100; ++size) {
    ASSERT_EQ(checksum(random_bytes(size)), specified(random_bytes(size))) << size;
  }
  for (const std::size_t size : {65535U, 65536U, 65537U, 65552U, 131072U, 200'001U}) {
    ASSERT_EQ(checksum(random_bytes(size)), specified(random_bytes(size))) << size;
  }
}

TEST(Checksum, EveryFlippedBitIsNoticed) {
  for (const Shape& shape : small_shapes()) {
    Bytes stored = full_filter(shape);
    ASSERT_FALSE(is_refused(stored)) << shape;
    for (std::size_t bit = kHeaderBytes * 8; bit < stored.size() * 8; ++bit) {
      stored[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      ASSERT_TRUE(is_refused(stored)) << shape << " bit " << bit;
      stored[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    }
  }
}

// Such as a memory module with a defect, which flips the same bit of many words.
TEST(Checksum, PairsOfFlippedBitsAreNoticed) {
  for (Bytes bytes : {Bytes(256), random_bytes(256)}) {
    std::set<std::uint64_t> seen = {checksum(bytes)};
    for (std::size_t first = 0; first < bytes.size() * 8; ++first) {
      for (std::size_t second = first + 64; second < bytes.size() * 8; second += 64) {
        for (const std::size_t bit : {first, second}) {
          bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        }
        ASSERT_TRUE(seen.insert(checksum(bytes)).second) << first << " and " << second;
        for (const std::size_t bit : {first, second}) {
          bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        }
      }
    }
  }
}

// What a disk and a file system do to a file. A filter with few keys has pages of one bit each.
TEST(Checksum, LostAndExchangedPagesAreNoticed) {
  constexpr std::size_t kPage = 512;
  for (const std::uint64_t keys : {10'000U, 100U}) {
    Filter filter(size_filter(100'000, 0.01, Kind::standard));
    for (std::uint64_t key = 0; key < keys; ++key) {
      filter.add(key_hash(key));
    }
    const Bytes good = test::bytes_of(filter);
    const std::size_t pages = (good.size() - kHeaderBytes) / kPage;
    const auto page = [&](Bytes& bytes, std::size_t i) {
      return bytes.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes + i * kPage);
    };
    for (std::size_t i = 0; i < pages; ++i) {
      Bytes zeroed = good;
      std::fill_n(page(zeroed, i), kPage, 0);
      ASSERT_TRUE(zeroed == good || is_refused(zeroed)) << i;
      for (std::size_t other = 0; other < i; ++other) {
        Bytes exchanged = good;
        std::swap_ranges(page(exchanged, i), page(exchanged, i) + kPage, page(exchanged, other));
        ASSERT_TRUE(exchanged == good || is_refused(exchanged)) << i << " and " << other;
      }
    }
  }
}

TEST(Checksum, IsUpdatedAfterEachChange) {
  Filter filter(size_filter(1000, 0.01, Kind::counting));
  for (std::uint64_t key = 0; key < 10; ++key) {
    filter.add(key_hash(key));
    const ByteView stored = filter.stored();
    ASSERT_FALSE(is_refused({stored.begin(), stored.end()}));
  }
  filter.remove(key_hash(3));
  filter.set_target(2000, 0.02);
  const auto size = static_cast<std::ptrdiff_t>(stored_bytes(filter.shape()));
  const OwnedBytes released = filter.release();
  EXPECT_FALSE(is_refused({released.get(), released.get() + size}));
}

// Files of version 1.0 contain such filters.
TEST(Checksum, AFilterWithoutOneIsAcceptedWhateverItsCells) {
  Bytes stored =
      test::as_version_1(full_filter({.kind = Kind::standard, .hashes = 7, .cells = 960}));
  EXPECT_FALSE(is_refused(stored));
  stored.back() ^= 1;
  EXPECT_FALSE(is_refused(stored));
}

}  // namespace
}  // namespace bloom
