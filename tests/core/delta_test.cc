// A delta turns one filter into another. It is refused for all other filters, and if its bytes are
// damaged.

#include "core/operations/delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/layout/cells.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

using test::bytes_of;
using test::key_hash;
using test::small_shapes;
using test::splitmix64;

Filter with_keys(const Header& header, std::uint64_t first, std::uint64_t last) {
  Filter filter(header);
  for (std::uint64_t key = first; key < last; ++key) {
    filter.add(key_hash(key, header.shape.seed));
  }
  return filter;
}

Filter with_keys(const Shape& shape, std::uint64_t first, std::uint64_t last) {
  return with_keys(Header{.shape = shape, .capacity = 0, .fpr = 0}, first, last);
}

std::vector<std::uint8_t> bytes_of(const StoredDelta& stored) {
  return {stored.bytes.get(), stored.bytes.get() + stored.size};
}

// Returns the bytes of the resulting filter, or no bytes if the delta is refused.
std::vector<std::uint8_t> applied(const Filter& before, ByteView stored) {
  const auto opened = open_delta(stored);
  if (!std::holds_alternative<DeltaView>(opened)) {
    return {};
  }
  const auto after = apply_delta(before.view(), std::get<DeltaView>(opened));
  return std::holds_alternative<Filter>(after) ? bytes_of(std::get<Filter>(after))
                                               : std::vector<std::uint8_t>{};
}

void expect_makes(const Filter& before, const Filter& after) {
  const auto stored = bytes_of(make_delta(before.view(), after.view()));
  EXPECT_EQ(applied(before, stored), bytes_of(after)) << before.shape() << " " << after.shape();
  EXPECT_LE(stored.size(), bytes_of(after).size() + kDeltaPrefixBytes) << after.shape();
}

TEST(Delta, MakesTheOtherFilterBitForBit) {
  for (const Shape& shape : small_shapes()) {
    const Filter none = with_keys(shape, 0, 0);
    for (const std::uint64_t keys : {1U, 10U, 100U, 1000U, 20000U}) {
      const Filter some = with_keys(shape, 0, keys);
      const Filter more = with_keys(shape, 0, keys + keys / 10 + 1);
      const Filter others = with_keys(shape, keys, 2 * keys);
      expect_makes(none, some);
      expect_makes(some, more);
      expect_makes(more, some);
      expect_makes(some, others);
      expect_makes(some, none);
      expect_makes(some, some);
    }
  }
}

TEST(Delta, MakesAFilterOfAnotherShape) {
  const auto shapes = small_shapes();
  for (const Shape& before : shapes) {
    for (const Shape& after : shapes) {
      expect_makes(with_keys(before, 0, 50), with_keys(after, 25, 75));
    }
  }
}

TEST(Delta, ChangesCapacityAndFpr) {
  const Shape shape{.kind = Kind::standard, .hashes = 3, .cells = 960};
  const Filter before = with_keys(Header{.shape = shape, .capacity = 100, .fpr = 0.01}, 0, 10);
  expect_makes(before, with_keys(Header{.shape = shape, .capacity = 50, .fpr = 0.5}, 0, 10));
  expect_makes(before, with_keys(shape, 0, 10));
}

// Returns the maximum size, in bits, of `differ` gaps among `all` bits with the best Golomb-Rice
// code.
std::uint64_t most_bits_of_the_best_code(std::uint64_t differ, std::uint64_t all) {
  std::uint64_t best = all;
  for (unsigned remainder = 1; remainder < 20; ++remainder) {
    best = std::min(best, differ * (1 + remainder) + ((all - differ) >> remainder));
  }
  return best;
}

// Holds for any number of differing bits: with no remainder bits, the code is the bits themselves.
TEST(Delta, IsAtMostAsLongAsWithTheBestRiceParameter) {
  const Header header{.shape = {.kind = Kind::standard, .hashes = 1, .cells = 100'000}};
  const Filter before(header);
  for (std::uint64_t share = 1; share <= 256; ++share) {
    Filter after(header);
    for (std::uint64_t i = 0; i < header.shape.cells; ++i) {
      if (splitmix64(i) % 256 < share) {
        after.cells()[i / 8] |= static_cast<std::uint8_t>(1U << i % 8);
      }
    }
    expect_makes(before, after);
    const std::uint64_t differ =
        count_nonzero(Kind::standard, after.cells(), 0, header.shape.cells);
    EXPECT_LE(make_delta(before.view(), after.view()).size,
              kDeltaPrefixBytes + (most_bits_of_the_best_code(differ, header.shape.cells) + 7) / 8);
  }
}

// To encode which d of m bits differ takes at least log2(m choose d) bits. This is about
// d (log2(m/d) + 1.44). Golomb-Rice codes take at most 3 % more.
TEST(Delta, IsCloseToTheEntropyForFewKeys) {
  const Header header{.shape = {.kind = Kind::standard, .hashes = 7, .cells = 9'600'000}};
  const Filter before = with_keys(header, 0, 1'000);
  for (const std::uint64_t keys : {1U, 10U, 100U, 1000U, 10000U}) {
    const Filter after = with_keys(header, 0, 1'000 + keys);
    const double differ = 7.0 * static_cast<double>(keys);
    const double fewest =
        differ * (std::log2(static_cast<double>(header.shape.cells) / differ) + 1.44) / 8;
    const double taken = static_cast<double>(make_delta(before.view(), after.view()).size) -
                         static_cast<double>(kDeltaPrefixBytes);
    // With few differing bits, the size depends more on how long the gaps happen to be.
    const double spread = keys < 1000 ? 0.1 : 0.04;
    EXPECT_LE(taken, fewest * (1 + spread) + 2) << keys;
  }
}

TEST(Delta, IsRefusedForAnotherFilter) {
  for (const Shape& shape : small_shapes()) {
    const Filter before = with_keys(shape, 0, 20);
    Filter other(before.view());
    other.cells()[0] ^= 1;
    const auto stored = bytes_of(make_delta(before.view(), with_keys(shape, 0, 30).view()));
    EXPECT_TRUE(applied(other, stored).empty()) << shape;
    const auto opened = open_delta(stored);
    const auto refused = apply_delta(other.view(), std::get<DeltaView>(opened));
    EXPECT_TRUE(std::get<Problem>(refused).is_foreign) << shape;

    Filter retargeted(before.view());
    retargeted.set_target(12345, 0.125);
    EXPECT_TRUE(applied(retargeted, stored).empty()) << shape;
  }
}

// Damage is detected or harmless: the result is never a filter other than the intended one.
TEST(Delta, DamageIsFound) {
  for (const Shape& shape : small_shapes()) {
    const Filter before = with_keys(shape, 0, 20);
    const Filter after = with_keys(shape, 10, 40);
    const auto whole = bytes_of(make_delta(before.view(), after.view()));
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 300);
    for (std::size_t i = 0; i < whole.size(); i += i < 100 ? 1 : step) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        auto damaged = whole;
        damaged[i] ^= static_cast<std::uint8_t>(1U << bit);
        const auto made = applied(before, damaged);
        EXPECT_TRUE(made.empty() || made == bytes_of(after)) << shape << " " << i << ":" << bit;
      }
      EXPECT_TRUE(applied(before, ByteView(whole).first(i)).empty()) << shape << " first " << i;
    }
    auto longer = whole;
    longer.push_back(0);
    EXPECT_TRUE(applied(before, longer).empty()) << shape;
  }
}

// The expected bytes follow docs/table-format.md, as another program would write them.
TEST(Delta, HasTheBytesThatAreSpecified) {
  const Header header{.shape = {.kind = Kind::standard, .hashes = 1, .cells = 64}};
  Filter after(header);
  after.cells()[0] = 0x01;
  after.cells()[5] = 0x80;
  const auto stored = bytes_of(make_delta(Filter(header).view(), after.view()));
  // Two of 64 bits differ, so gaps have 4 remainder bits. Gap 0 is coded as 1 0000, and gap 46 as
  // 001 0111, lowest bit first.
  const std::array<std::uint8_t, 2> gaps = {0b10000001, 0b1110};
  ASSERT_EQ(stored.size(), kDeltaPrefixBytes + gaps.size());
  EXPECT_EQ(stored[5], 4);
  EXPECT_TRUE(std::equal(gaps.begin(), gaps.end(), stored.end() - gaps.size()));

  // If the header changes, the new one is stored before the gaps.
  const Header sized{.shape = header.shape, .capacity = 7, .fpr = 0.25};
  after.set_target(sized.capacity, sized.fpr);
  const auto with_header = bytes_of(make_delta(Filter(header).view(), after.view()));
  ASSERT_EQ(with_header.size(), kDeltaPrefixBytes + kHeaderBytes + gaps.size());
  const auto stored_header = write_header(sized);
  EXPECT_TRUE(std::equal(stored_header.begin(), stored_header.end(),
                         with_header.begin() + kDeltaPrefixBytes));
}

}  // namespace
}  // namespace bloom
