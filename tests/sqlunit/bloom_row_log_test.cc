// The row log of a bloom table beside a filter that has grown.

#include "sql/bloom_table/paged/bloom_row_log.h"

#include <gtest/gtest.h>

#include "core/layout/chunk_layout.h"
#include "sql/sqlite/guard.h"
#include "tests/sqlunit/connection.h"
#include "tests/support/keys.h"

namespace bloom::test {
namespace {

using sqlite::execute;

class BloomRowLogTest : public testing::Test {
 protected:
  static constexpr ShadowTable kTables[] = {RowLog::kTable};

  void SetUp() override {
    execute(db_, "SAVEPOINT test");
    tables_.create();
  }
  void TearDown() override { execute(db_, "ROLLBACK TO test; RELEASE test"); }

  static Layers layers(std::uint64_t chunks) {
    constexpr std::uint64_t kBlock = 512;
    const std::uint64_t cells = chunks * (kChunkBytes * 8 / kBlock) * kBlock;
    return Layers(
        Header{.shape = {.kind = Kind::standard, .hashes = 4, .cells = cells, .block = kBlock},
               .capacity = chunks,
               .fpr = 0.01});
  }
  // Returns the error code of load().
  int load(const Layers& layers, bool has_rows) {
    return sqlite::Outcome::of([&] { log_.load(layers, LayeredFilter(layers), has_rows); }).code();
  }

  sqlite3* const db_ = connection();
  ShadowTables tables_{db_, "main", "t", kTables};
  std::uint64_t writes_ = 0;
  RowLog rows_{tables_, writes_};
  BloomRowLog log_{rows_};
  const Layers possible_ = layers(16);
  const Layers too_large_ = layers(std::uint64_t{1} << 18U | 1);
};

// A transaction that logs keys, and then grows, has merged its log, but still says that there may
// be rows.
TEST_F(BloomRowLogTest, IsEmptyWhenAFilterHasGrownTooLargeForIt) {
  ASSERT_TRUE(BloomRowLog::is_possible(possible_));
  ASSERT_FALSE(BloomRowLog::is_possible(too_large_));
  EXPECT_EQ(load(too_large_, /*has_rows=*/true), SQLITE_OK);
  EXPECT_TRUE(log_.empty());
}

TEST_F(BloomRowLogTest, RefusesRowsOfAFilterThatIsTooLarge) {
  ASSERT_EQ(load(possible_, false), SQLITE_OK);
  log_.append(possible_, 0, key_hash(1, 0), /*is_removal=*/false);
  log_.forget();
  EXPECT_EQ(load(possible_, true), SQLITE_OK);
  log_.forget();
  EXPECT_EQ(load(too_large_, true), SQLITE_CORRUPT_VTAB);
}

// SQLite chooses the ids of all rows but the first, so they show rows that the copy lacks.
TEST_F(BloomRowLogTest, NoticesRowsThatCameOrWentWithoutIt) {
  for (const char* const change :
       {"INSERT INTO t_rowlog(row) VALUES (zeroblob(16))", "DELETE FROM t_rowlog"}) {
    ASSERT_EQ(load(possible_, false), SQLITE_OK);
    const auto append = [&](std::uint64_t key) {
      log_.append(possible_, 0, key_hash(key, 0), /*is_removal=*/false);
    };
    append(1);
    append(2);
    execute(db_, change);
    EXPECT_EQ(sqlite::Outcome::of([&] { append(3); }).code(), SQLITE_CORRUPT_VTAB) << change;
    log_.forget();
    execute(db_, "DELETE FROM t_rowlog");
  }
}

}  // namespace
}  // namespace bloom::test
