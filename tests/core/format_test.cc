#include "core/layout/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "core/filter/filter.h"
#include "core/sizing/sizing.h"
#include "core/support/bytes.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

using test::as_version_1;
using test::bytes_of;
using test::key_hash;
using test::repair_header_checksum;
using test::small_shapes;
using Bytes = std::vector<std::uint8_t>;

Filter sample(const Shape& shape) {
  Filter filter(Header{.shape = shape, .capacity = 20, .fpr = 0.01});
  for (std::uint64_t key = 0; key < 20; ++key) {
    filter.add(key_hash(key, shape.seed));
  }
  return filter;
}

// Returns what open_filter() reports about the bytes: an empty string if they are a valid filter.
std::string problem_text(const Bytes& bytes) {
  const auto opened = open_filter(bytes);
  const auto* problem = std::get_if<Problem>(&opened);
  return problem == nullptr ? "" : problem->text;
}

TEST(Format, WrittenFiltersAreReadBack) {
  for (const Shape& shape : small_shapes()) {
    const Filter filter = sample(shape);
    const Bytes stored = bytes_of(filter);
    for (const Bytes& bytes : {stored, as_version_1(stored)}) {
      const auto opened = open_filter(bytes);
      const auto* view = std::get_if<FilterView>(&opened);
      ASSERT_NE(view, nullptr) << shape;
      EXPECT_EQ(view->header(), filter.header());
      EXPECT_EQ(view->cell_checksum().has_value(), bytes[4] == 2);
      EXPECT_EQ(bytes_of(Filter(*view)), stored);
    }
  }
}

TEST(Format, HeaderBytesAreWhereTheDocumentSays) {
  const Header header{.shape = {.kind = Kind::counting,
                                .hashes = 7,
                                .cells = 0x0102030405,
                                .block = 0x05,
                                .seed = 0x11223344,
                                .collation = Collation::rtrim},
                      .capacity = 0x0a0b0c,
                      .fpr = 0.5};
  const auto alone = write_header(header);
  const std::uint8_t expected[56] = {
      'B',  'L',  'M',  'F',  1,    1, 2,    7,     // magic, version, hash, kind, k
      0x05, 0x04, 0x03, 0x02, 0x01, 0, 0,    0,     // m
      0x05, 0,    0,    0,    0,    0, 0,    0,     // block
      0x44, 0x33, 0x22, 0x11, 2,    0, 0,    0,     // seed, collation, reserved
      0x0c, 0x0b, 0x0a, 0,    0,    0, 0,    0,     // capacity
      0,    0,    0,    0,    0,    0, 0xe0, 0x3f,  // fpr
  };
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), alone.begin()));
  const auto with_checksum = write_filter_header(header, 0x0102030405060708);
  HeaderBytes wanted = alone;
  wanted[4] = 2;
  for (std::uint8_t i = 0; i < 8; ++i) {
    wanted[48 + i] = static_cast<std::uint8_t>(8 - i);
  }
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.begin() + 56, with_checksum.begin()));
  for (const HeaderBytes& bytes : {alone, with_checksum}) {
    EXPECT_EQ(load_le<std::uint64_t>(&bytes[56]),
              hash_key({reinterpret_cast<const char*>(bytes.data()), 56}, 0).h1);
  }
}

// Of a table or a delta: other bytes hold its cells, so it has no checksum of them.
TEST(Format, AHeaderAloneHasNoChecksumOfCells) {
  const Header header{.shape = {.kind = Kind::standard, .hashes = 7, .cells = 960}};
  const auto alone = read_header(write_header(header));
  ASSERT_TRUE(std::holds_alternative<Header>(alone));
  EXPECT_EQ(std::get<Header>(alone), header);
  const auto refused = read_header(write_filter_header(header, 1));
  ASSERT_TRUE(std::holds_alternative<Problem>(refused));
  EXPECT_EQ(std::get<Problem>(refused).text, "unknown version 2");
}

// The header that was read last is the same if its parameters are, whatever the checksums.
TEST(Format, HeadersWithTheSameParametersAreTheSame) {
  const Header header{.shape = {.kind = Kind::standard, .hashes = 7, .cells = 960}};
  const HeaderBytes one = write_header(header);
  const HeaderBytes known = write_filter_header(header, 1);
  const HeaderBytes other = write_filter_header(header, 2);
  EXPECT_TRUE(has_same_header(one, one));
  EXPECT_TRUE(has_same_header(known, known));
  EXPECT_TRUE(has_same_header(other, known));
  EXPECT_FALSE(has_same_header(one, known));
  EXPECT_FALSE(has_same_header(known, one));
  EXPECT_FALSE(has_same_header(ByteView(known).first(63), known));
  for (const HeaderBytes& known_one : {one, known}) {
    for (std::size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
      HeaderBytes flipped = known_one;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      ASSERT_FALSE(has_same_header(flipped, known_one)) << bit;
    }
  }
}

TEST(Format, EveryTruncationAndExtensionIsRefused) {
  for (const Shape& shape : small_shapes()) {
    if (shape.cells > 2000) {
      continue;
    }
    Bytes bytes = bytes_of(sample(shape));
    bytes.push_back(0);
    EXPECT_NE(problem_text(bytes), "") << shape;
    bytes.pop_back();
    ASSERT_EQ(problem_text(bytes), "") << shape;
    while (!bytes.empty()) {
      bytes.pop_back();
      bytes.shrink_to_fit();  // so that sanitizers see a read beyond the end
      EXPECT_NE(problem_text(bytes), "") << shape << " cut to " << bytes.size();
    }
  }
}

TEST(Format, EveryHeaderBitFlipIsRefused) {
  for (const Shape& shape : small_shapes()) {
    Bytes bytes = bytes_of(sample(shape));
    for (std::size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
      const auto flip = static_cast<std::uint8_t>(1U << (bit % 8));
      bytes[bit / 8] ^= flip;
      EXPECT_NE(problem_text(bytes), "") << shape << " bit " << bit;
      bytes[bit / 8] ^= flip;
    }
  }
}

// An attacker can write a correct checksum. A header that is then accepted must be safe to use.
TEST(Format, HeadersWithAValidChecksumAreSafeOrRefused) {
  std::mt19937_64 random(7);
  const Bytes original = bytes_of(sample({.kind = Kind::standard, .hashes = 7, .cells = 960}));
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    Bytes bytes = original;
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      bytes[4 + static_cast<std::size_t>(random() % 52)] =
          static_cast<std::uint8_t>(random() >> (random() % 2 * 60));
    }
    repair_header_checksum(bytes.data());
    const auto opened = open_filter(bytes);
    if (const auto* view = std::get_if<FilterView>(&opened)) {
      ++accepted;
      ASSERT_EQ(stored_bytes(view->shape()), bytes.size());
      ASSERT_FALSE(broken_rule(view->shape()));
      Filter copy(*view);
      copy.add(key_hash(1, view->shape().seed));
      ASSERT_TRUE(copy.may_contain(key_hash(1, view->shape().seed)));
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(Format, ProblemsSayWhatIsWrong) {
  const Bytes stored = bytes_of(sample({.kind = Kind::standard, .hashes = 7, .cells = 100}));
  const Bytes good = as_version_1(stored);
  const auto edited = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    repair_header_checksum(bytes.data());
    return problem_text(bytes);
  };
  EXPECT_EQ(problem_text({}), "a header has 64 bytes, got 0");
  EXPECT_EQ(problem_text(Bytes(64)), "bad magic");
  EXPECT_EQ(edited(4, 0), "unknown version 0");
  EXPECT_EQ(edited(4, 3), "unknown version 3");
  EXPECT_EQ(edited(5, 9), "unknown hash 9");
  EXPECT_EQ(edited(6, 0), "unknown kind 0");
  EXPECT_EQ(edited(6, 4), "unknown kind 4");
  EXPECT_EQ(edited(7, 0), "k must be between 1 and 255, is 0");
  EXPECT_EQ(edited(8, 0), "m must be between 1 and 1099511627776, is 0");
  EXPECT_EQ(edited(16, 3), "block must be 0 or a divisor of m = 100, is 3");
  EXPECT_EQ(edited(28, 3), "unknown collation 3");
  EXPECT_EQ(edited(29, 1), "reserved header bytes are in use");
  EXPECT_EQ(edited(31, 0x80), "reserved header bytes are in use");
  EXPECT_EQ(edited(48, 1), "reserved header bytes are in use");
  EXPECT_EQ(edited(55, 0x80), "reserved header bytes are in use");
  EXPECT_EQ(edited(47, 0xff), "capacity or false-positive rate out of range");
  EXPECT_EQ(edited(8, 99), "bits after the last cell are set");  // cell 99 is set in this sample
  EXPECT_EQ(edited(8, 110), "77 bytes where the header says 78");
  Bytes flipped = good;
  flipped[20] ^= 1;
  EXPECT_EQ(problem_text(flipped), "header checksum does not match");
  Bytes damaged = stored;
  damaged[70] ^= 1;
  EXPECT_EQ(problem_text(damaged), "");
  const auto opened = open_filter(damaged);
  const auto damage = find_damage(std::get<FilterView>(opened));
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->text, "cell checksum does not match");
  EXPECT_FALSE(damage->is_foreign);
}

TEST(Format, CapacitiesAndRatesMayBeAsLargeAsTheDocumentSays) {
  const auto said = [](std::uint64_t capacity, double fpr) {
    const auto bytes = write_header({.shape = {.kind = Kind::standard, .hashes = 7, .cells = 100},
                                     .capacity = capacity,
                                     .fpr = fpr});
    const auto header = read_header(bytes);
    const auto* problem = std::get_if<Problem>(&header);
    return problem == nullptr ? "" : problem->text;
  };
  EXPECT_EQ(said(kMaxCells, std::nextafter(1, 0)), "");
  EXPECT_EQ(said(0, std::numeric_limits<double>::denorm_min()), "");
  EXPECT_EQ(said(kMaxCells + 1, 0), "capacity or false-positive rate out of range");
  EXPECT_EQ(said(1, 1), "capacity or false-positive rate out of range");
  EXPECT_EQ(said(1, -std::numeric_limits<double>::denorm_min()),
            "capacity or false-positive rate out of range");
  EXPECT_EQ(said(1, std::nan("")), "capacity or false-positive rate out of range");
}

struct Golden {
  const char* name;
  Header header;
};

std::vector<Golden> golden_files() {
  using enum Kind;
  return {
      {"standard-whole", {.shape = {.kind = standard, .hashes = 7, .cells = 960}}},
      {"standard-blocks", size_filter(10'000, 0.01, standard)},
      {"standard-512",
       {.shape = {.kind = standard, .hashes = 6, .cells = 4096, .block = 512, .seed = 77}}},
      {"counting-whole", {.shape = {.kind = counting, .hashes = 5, .cells = 1001}}},
      {"counting-blocks", size_filter(2'000, 0.05, counting)},
      {"partitioned-whole", {.shape = {.kind = partitioned, .hashes = 3, .cells = 900}}},
      {"partitioned-blocks", size_filter(8'000, 0.02, partitioned)},
      {"standard-nocase",
       {.shape = {.kind = standard,
                  .hashes = 4,
                  .cells = 2000,
                  .seed = 5,
                  .collation = Collation::nocase}}},
      {"standard-rtrim",
       {.shape = {.kind = standard,
                  .hashes = 4,
                  .cells = 2000,
                  .seed = 5,
                  .collation = Collation::rtrim}}},
  };
}

// Adds keys of every type: text, blob, integer and real, an empty key and one with a NUL.
Filter golden_filter(const Header& header) {
  Filter filter(header);
  for (const std::string_view key : {std::string_view(""), std::string_view("a\0b", 3),
                                     std::string_view("K\xc3\xb6ln"), std::string_view("-1.5")}) {
    filter.add(filter.hash(key));
  }
  for (std::uint64_t key = 0; key < 100; ++key) {
    filter.add(key_hash(key, header.shape.seed));
  }
  return filter;
}

Bytes golden_file(const std::string& name, const Bytes& made) {
  const std::string path = std::string(BLOOM_TEST_GOLDEN "/") + name;
  if (std::getenv("BLOOM_WRITE_GOLDEN") != nullptr && !std::ifstream(path)) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(made.data()),
               static_cast<std::streamsize>(made.size()));
  }
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The golden files were written once and must never be overwritten. If they no longer match, this
// version breaks every stored filter. To add a file, set BLOOM_WRITE_GOLDEN=1.
TEST(Format, GoldenFilesAreWrittenByteForByte) {
  for (const Golden& golden : golden_files()) {
    const Bytes made = bytes_of(golden_filter(golden.header));
    const std::string name = std::string("version-2/") + golden.name + ".bloom";
    EXPECT_EQ(golden_file(name, made), made) << name;
    EXPECT_EQ(problem_text(made), "");
  }
}

// Version 1 had no checksum of the cells. Such a filter is read, and written as version 2.
TEST(Format, GoldenFilesOfVersion1AreRead) {
  for (const Golden& golden : golden_files()) {
    const Bytes made = bytes_of(golden_filter(golden.header));
    const std::string name = std::string("version-1/") + golden.name + ".bloom";
    const Bytes stored = golden_file(name, as_version_1(made));
    EXPECT_EQ(stored, as_version_1(made)) << name;
    const auto opened = open_filter(stored);
    ASSERT_TRUE(std::holds_alternative<FilterView>(opened)) << name;
    EXPECT_EQ(bytes_of(Filter(std::get<FilterView>(opened))), made) << name;
  }
}

}  // namespace
}  // namespace bloom
