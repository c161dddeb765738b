// The hashes that a filter stores for the keys of a source.

#include "sql/source/source_key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/hashing/key.h"
#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

KeyForm form(const PartCollations& parts = {}) {
  return {{.kind = Kind::standard, .hashes = 3, .cells = 1024, .seed = 5}, parts};
}

// Returns the key in the columns of SELECT `expressions`.
SourceKey key_of(const std::string& expressions, const PartCollations& parts = {}) {
  const sqlite::Statement select(connection(), "SELECT " + expressions);
  sqlite::Execution run(select);
  run.step();
  return key_of_row(run, 0, form(parts));
}

SourceKey packed_key_of(const std::string& expression) {
  return key_of_value(sqlite::Value(value_of(expression).get()), /*is_composite=*/true, form());
}

Hash hash_of(const std::string& bytes) { return hash_key(bytes, Collation::binary, 5); }

TEST(SourceKey, AKeyOfOneColumnIsItsBytes) {
  EXPECT_EQ(key_of("'a'").hash, hash_of("a"));
  EXPECT_EQ(key_of("42.0").hash, hash_of("42"));
  EXPECT_EQ(key_of("NULL").hash, std::nullopt);
}

TEST(SourceKey, SeveralColumnsAreHashedAsBloomKeyPacksThem) {
  EXPECT_EQ(key_of("'a', 42").hash, hash_of("1:a,2:42,"));
  EXPECT_EQ(key_of("'a', 42").hash, packed_key_of("bloom_key('a', 42)").hash);
  EXPECT_NE(key_of("'ab', 'c'").hash, key_of("'a', 'bc'").hash);
  EXPECT_EQ(key_of("'a', NULL").hash, std::nullopt);
}

TEST(SourceKey, EachColumnHasItsCollation) {
  const PartCollations parts = {Collation::nocase, Collation::binary};
  EXPECT_EQ(key_of("'A', 'b'", parts).hash, key_of("'a', 'b'", parts).hash);
  EXPECT_NE(key_of("'a', 'B'", parts).hash, key_of("'a', 'b'", parts).hash);
}

TEST(SourceKey, TextInOtherFormsOfNumbersNeedsTheMarker) {
  for (const std::string text : {"'05'", "' 5'", "'5.0'", "'1e3'"}) {
    EXPECT_TRUE(key_of(text).needs_marker) << text;
    EXPECT_TRUE(key_of("'a', " + text).needs_marker) << text;
    EXPECT_TRUE(packed_key_of("bloom_key('a', " + text + ")").needs_marker) << text;
  }
  for (const std::string other : {"'5'", "5", "'a'", "x'3035'", "NULL"}) {
    EXPECT_FALSE(key_of(other).needs_marker) << other;
  }
  EXPECT_FALSE(key_of("'a', '5'").needs_marker);
}

// The keys of a table in which two need the marker.
std::vector<SourceKey> keys() {
  return {key_of("'05'"), key_of("NULL"), key_of("'06'"), key_of("7")};
}

TEST(KeyHashes, PassTheMarkerOnce) {
  const Hash marker = noncanonical_marker(form().shape);
  std::vector<Hash> passed;
  KeyHashes hashes(form().shape);
  for (const SourceKey& key : keys()) {
    hashes.for_each_hash(key, [&](Hash hash) { passed.push_back(hash); });
  }
  EXPECT_EQ(passed, (std::vector{hash_of("05"), marker, hash_of("06"), hash_of("7")}));
}

TEST(KeyHashes, PassNoMarkerThatIsThereAlready) {
  std::vector<Hash> passed;
  for (const bool is_there : {true, false}) {
    KeyHashes hashes(form().shape);
    hashes.for_each_hash(
        key_of("'05'"), [&](Hash hash) { passed.push_back(hash); },
        [&](Hash marker) {
          EXPECT_EQ(marker, noncanonical_marker(form().shape));
          return is_there;
        });
  }
  EXPECT_EQ(passed, (std::vector{hash_of("05"), hash_of("05"), noncanonical_marker(form().shape)}));
}

}  // namespace
}  // namespace bloom::test
