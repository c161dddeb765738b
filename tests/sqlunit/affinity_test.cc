// The affinity of a declared type, compared with what SQLite does to values in such a column.

#include "sql/values/affinity.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

// Returns the types of '1' and 1 after they were stored in a column of this declared type.
std::string stored_types(const std::string& declared) {
  sqlite::execute(connection(), "CREATE TABLE stored(x " + declared + ")");
  sqlite::execute(connection(), "INSERT INTO stored VALUES ('1'), (1)");
  const auto types = value_of("group_concat(typeof(x), ' ') FROM stored");
  sqlite::execute(connection(), "DROP TABLE stored");
  return std::string(sqlite::Value(types.get()).text());
}

TEST(Affinity, IsThatOfSqlite) {
  const std::map<Affinity, std::string> expected = {{Affinity::blob, "text integer"},
                                                    {Affinity::text, "text text"},
                                                    {Affinity::numeric, "integer integer"},
                                                    {Affinity::real, "real real"}};
  for (const std::string type : {"",
                                 "BLOB",
                                 "blob",
                                 "INTEGER",
                                 "int",
                                 "BIGINT",
                                 "TINYINT(3)",
                                 "FLOATING POINT",
                                 "CHARINT",
                                 "TEXT",
                                 "VARCHAR(255)",
                                 "nchar",
                                 "CLOB",
                                 "TEXTBLOB",
                                 "REAL",
                                 "DOUBLE PRECISION",
                                 "float",
                                 "NUMERIC",
                                 "DECIMAL(10, 5)",
                                 "BOOLEAN",
                                 "DATE",
                                 "STRING",
                                 "ANY",
                                 "BLOBREAL"}) {
    const char* const declared = type.empty() ? nullptr : type.c_str();
    EXPECT_EQ(stored_types(type), expected.at(affinity_of(declared))) << type;
  }
  EXPECT_EQ(stored_types(R"("")"), expected.at(affinity_of("")));
}

TEST(Affinity, NumbersAreNumericOrReal) {
  EXPECT_TRUE(is_numeric(Affinity::numeric));
  EXPECT_TRUE(is_numeric(Affinity::real));
  EXPECT_FALSE(is_numeric(Affinity::text));
  EXPECT_FALSE(is_numeric(Affinity::blob));
}

}  // namespace
}  // namespace bloom::test
