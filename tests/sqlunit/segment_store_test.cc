// The filters of a SegmentStore have the same cells as filters in memory to which the same keys
// were added, wherever their segments are stored.

#include "sql/segments/segment_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sql/segments/filter_batch.h"
#include "sql/sqlite/guard.h"
#include "tests/sqlunit/connection.h"
#include "tests/support/keys.h"

namespace bloom::test {
namespace {

using sqlite::execute;

constexpr FilterSet kAll = ~FilterSet{0};

class SegmentStoreTest : public testing::Test {
 protected:
  static constexpr ShadowTable kTables[] = {SegmentStore::kDataTable, SegmentStore::kWideTable};

  void SetUp() override {
    execute(db_, "SAVEPOINT test");
    tables_.create();
    config_.header.shape = {
        .kind = Kind::standard, .hashes = 4, .cells = 2 * kSegmentBlock, .block = kSegmentBlock};
  }
  void TearDown() override { execute(db_, "ROLLBACK TO test; RELEASE test"); }

  void add_segments(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++config_.segments) {
      store_.add_segment(config_);
    }
  }
  // Returns the filter of the keys number, number + 1, ... of some filter.
  Filter filter(std::uint64_t number) const {
    Filter filter(config_.header);
    for (std::uint64_t i = 0; i < 5; ++i) {
      filter.add(key_hash(100 * number + i, 0));
    }
    return filter;
  }
  void add(std::uint64_t slot, std::uint64_t number) {
    store_.add_filter(config_, slot, filter(number).cells());
  }
  bool has(std::uint64_t slot, std::uint64_t number) {
    return same(store_.filter_of(config_, slot), filter(number));
  }
  bool is_empty(std::uint64_t slot) {
    return same(store_.filter_of(config_, slot), Filter(config_.header));
  }
  static bool same(Filter a, Filter b) { return std::ranges::equal(a.stored(), b.stored()); }
  // Returns the message if a row is missing, superfluous or damaged, else "".
  std::string damage() {
    std::string message;
    sqlite::guard([&] { store_.check(config_); },
                  [&](const sqlite::Failure& failure) { message = failure.text; });
    return message;
  }

  sqlite3* const db_ = connection();
  ShadowTables tables_{db_, "main", "t", kTables};
  std::uint64_t writes_ = 0;
  SegmentStore store_{tables_, writes_};
  SegmentConfig config_;
};

TEST_F(SegmentStoreTest, EachSlotHasAFilterOfItsOwn) {
  add_segments(2);
  for (const std::uint64_t slot : {0U, 1U, 63U, 64U, 127U}) {
    add(slot, slot);
  }
  EXPECT_TRUE(has(0, 0) && has(1, 1) && has(63, 63) && has(64, 64) && has(127, 127));
  EXPECT_TRUE(is_empty(2) && is_empty(65));
  EXPECT_TRUE(store_.may_contain(config_, 63, key_hash(6300, 0)));
  EXPECT_FALSE(store_.may_contain(config_, 62, key_hash(6300, 0)));
  store_.clear_filter(config_, 63);
  EXPECT_TRUE(is_empty(63) && has(1, 1) && has(64, 64));
  EXPECT_EQ(damage(), "");
}

TEST_F(SegmentStoreTest, WideningKeepsTheFiltersThatAreNamed) {
  add_segments(3);
  for (const std::uint64_t slot : {0U, 5U, 70U, 140U}) {
    add(slot, slot);
  }
  const std::vector<FilterSet> live = {kAll & ~FilterSet{1}, kAll};  // all but slot 0
  store_.widen(config_, live);
  config_.wide_segments = 2;
  EXPECT_TRUE(is_empty(0) && has(5, 5) && has(70, 70) && has(140, 140));
  EXPECT_EQ(damage(), "");
  add(6, 6);
  EXPECT_TRUE(has(6, 6) && has(5, 5));
  EXPECT_TRUE(store_.may_contain(config_, 6, key_hash(600, 0)));
}

TEST_F(SegmentStoreTest, PackingLeavesNoFreeSlots) {
  add_segments(3);
  for (const std::uint64_t slot : {1U, 60U, 64U, 191U}) {
    add(slot, slot);
  }
  store_.widen(config_, std::vector{kAll});
  config_.wide_segments = 1;
  const auto bit = [](unsigned slot) { return FilterSet{1} << slot % kSegmentFilters; };
  store_.pack(config_, std::vector{bit(1) | bit(60), bit(64), bit(191)});
  config_.segments = 1;
  config_.wide_segments = 0;
  EXPECT_TRUE(has(0, 1) && has(1, 60) && has(2, 64) && has(3, 191) && is_empty(4));
  EXPECT_EQ(damage(), "");
}

TEST_F(SegmentStoreTest, ABatchReplacesFilters) {
  add_segments(2);
  add(3, 3);
  add(64, 64);
  FilterBatch batch(store_, config_);
  for (const std::uint64_t slot : {3U, 9U, 64U}) {
    std::vector<Hash> hashes;
    for (std::uint64_t i = 0; i < 5; ++i) {
      hashes.push_back(key_hash(100 * (slot + 1) + i, 0));
    }
    batch.begin_filter(slot).add(hashes);
  }
  batch.write();
  EXPECT_TRUE(has(3, 4) && has(9, 10) && has(64, 65) && is_empty(4));
}

TEST_F(SegmentStoreTest, FamiliesShareTheTables) {
  SegmentStore other(tables_, writes_, /*family=*/1);
  SegmentConfig others = config_;
  add_segments(1);
  other.add_segment(others);
  others.segments = 1;
  add(7, 7);
  EXPECT_TRUE(same(other.filter_of(others, 7), Filter(config_.header)));
  other.clear();
  EXPECT_TRUE(has(7, 7));
  EXPECT_EQ(damage(), "");
}

TEST_F(SegmentStoreTest, MissingRowsAreDamage) {
  add_segments(2);
  execute(db_, "DELETE FROM t_data WHERE id = 1");
  EXPECT_NE(damage(), "");
}

}  // namespace
}  // namespace bloom::test
