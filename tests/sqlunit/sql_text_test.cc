#include "sql/sqlite/sql_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::sqlite {
namespace {

using Names = std::vector<std::string>;

TEST(SqlText, QuotesWithinTheTextAreDoubled) {
  EXPECT_EQ(quoted_name("t"), R"("t")");
  EXPECT_EQ(quoted_name(R"(a "b" 'c')"), R"("a ""b"" 'c'")");
  EXPECT_EQ(text_literal(R"(a "b" 'c')"), R"('a "b" ''c''')");
  EXPECT_EQ(text_literal(""), "''");
}

TEST(SqlText, UnquotingReversesQuoting) {
  for (const std::string text : {"", "a", "'", R"(")", "''", R"(a'b"c)", " ' ", R"(""")"}) {
    EXPECT_EQ(unquoted(quoted_name(text)), text);
    EXPECT_EQ(unquoted(text_literal(text)), text);
  }
}

TEST(SqlText, OnlyOneTokenInQuotesIsUnquoted) {
  for (const std::string text : {"", "a", "'", "'a", "a'", "'a' 'b'", "'a'b", "'a'''", "('a')"}) {
    EXPECT_EQ(unquoted(text), text == "'a'''" ? std::optional<std::string>("a'") : std::nullopt)
        << text;
  }
}

TEST(SqlText, SpaceIsTrimmedAtBothEndsOnly) {
  EXPECT_EQ(trimmed(" \t\r\n a b \f\v"), "a b");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(SqlText, ATokenIsAQuotedStringOrOneCharacter) {
  EXPECT_EQ(quoted_size("abc"), 1U);
  EXPECT_EQ(quoted_size("'a''b' c"), 6U);
  EXPECT_EQ(quoted_size("\"a'b\"'"), 5U);
  EXPECT_EQ(quoted_size("'open"), 5U);
}

TEST(SqlText, StatementsDifferInSpacesOutsideOfQuotesOnly) {
  EXPECT_TRUE(same_sql("INSERT INTO t(a)", "INSERTINTO t (a) "));
  EXPECT_TRUE(same_sql("", "  "));
  EXPECT_TRUE(same_sql(" 'a b'", "'a b'"));
  EXPECT_FALSE(same_sql("'a b'", "'ab'"));
  EXPECT_FALSE(same_sql("\"a\"", "'a'"));
  EXPECT_FALSE(same_sql("SELECT a", "SELECT A"));
  EXPECT_FALSE(same_sql("SELECT a", "SELECT"));
}

TEST(SqlText, NamesAreSeparatedByCommasOutsideOfQuotes) {
  EXPECT_EQ(parse_names("a"), Names{"a"});
  EXPECT_EQ(parse_names("'a, b'"), Names{"a, b"});
  EXPECT_EQ(parse_names("(a)"), Names{"a"});
  EXPECT_EQ(parse_names(R"((a, "b, c" , 'd''e'))"), (Names{"a", "b, c", "d'e"}));
  EXPECT_EQ(parse_names("(a,)"), (Names{"a", ""}));
  EXPECT_EQ(parse_names("()"), Names{""});
}

// SQLite skips U+FEFF in front of a token, and takes ?1LEFT for two.
TEST(SqlText, KeywordsAreFoundOutsideOfQuotesAndComments) {
  for (const std::string sql : {"a LEFT JOIN b", "left", "x=?1LEFT JOIN b", "x=1/**/LEFT",
                                "a \xEF\xBB\xBFLeFt JOIN b", "'a''b'LEFT", "[a]LEFT"}) {
    EXPECT_TRUE(has_keyword(sql, "LEFT")) << sql;
  }
  for (const std::string sql : {"", "a_left", "lefty", "'LEFT'", "\"LEFT\"", "-- LEFT", "[LEFT]",
                                "/* LEFT */", "a\xEF\xBB\xBFLEFT"}) {
    EXPECT_FALSE(has_keyword(sql, "LEFT")) << sql;
  }
}

TEST(SqlText, AnExpressionMayNameAColumn) {
  // The escape of the byte order mark would take in the b that follows.
  for (const std::string& sql :
       {std::string("b"), std::string("a||B"), std::string("\"b\""), std::string("`b`"),
        std::string("a||\xEF\xBB\xBF") + "b", std::string("1b"), std::string("[b]"),
        std::string("`a``c`"), std::string("a /* c */ || b"), std::string("f(b)"),
        std::string("CAST(b AS TEXT)"), std::string("CAST(a AS TEXT) || b"),
        std::string("\"b\" (1)"), std::string("b IN (1)")}) {
    EXPECT_TRUE(may_name(sql, "b")) << sql;
  }
  for (const std::string sql :
       {"", "bb", "'b'", "a + 1", "b1", "b\xEF\xBB\xBF", "b(a)", "B /* c */ (a)", "CAST(a AS b)",
        "CAST(a as b b(10))", "[a b] || `c`", "a -- b", "a /* b */"}) {
    EXPECT_FALSE(may_name(sql, "b")) << sql;
  }
}

TEST(SqlText, APragma) {
  for (const std::string_view sql :
       {"PRAGMA x", "pragma x = 1", " ;; /* c */ -- c\n Pragma\nx", "PRAGMA"}) {
    EXPECT_TRUE(is_pragma(sql)) << sql;
  }
  for (const std::string_view sql :
       {"", ";", "SELECT 1", "SELECT * FROM pragma_x", "pragmas", "'PRAGMA'", "-- PRAGMA"}) {
    EXPECT_FALSE(is_pragma(sql)) << sql;
  }
}

// The oracle is SQLite: if a column is renamed, an index whose expression names it changes.
TEST(SqlText, AKeywordIsNoColumnUnlessSqliteTakesItForOne) {
  sqlite3* const db = test::connection();
  int named = 0;
  int not_named = 0;
  for (const std::string name :
       {"and", "as",  "between", "case", "collate", "else", "escape", "exists", "in",  "isnull",
        "is",  "not", "notnull", "null", "or",      "then", "when",   "end",    "key", "row"}) {
    for (const std::string sql : {"CASE WHEN a IS NOT NULL AND a THEN a ELSE NULL END",
                                  "CASE a WHEN 1 THEN 'x' END",
                                  "CASE WHEN a THEN CASE WHEN a THEN \"a\" END END",
                                  "CASE a WHEN 1 THEN (a) END || a",
                                  "CASE WHEN a THEN end END",
                                  "CASE WHEN end THEN a ELSE end END",
                                  "end || a",
                                  "a LIKE end",
                                  "CASE end WHEN end THEN end END",
                                  "t.end",
                                  "-end",
                                  "a LIKE 'x' ESCAPE end",
                                  "CASE WHEN a THEN a COLLATE nocase END",
                                  "a BETWEEN 1 AND end",
                                  "CAST(a AS end)",
                                  "a ISNULL OR a NOTNULL OR a IN (end)",
                                  "CASE WHEN 1 THEN t.end END",
                                  "NOT end",
                                  "CASE WHEN a THEN 1.5e3 END",
                                  "CASE WHEN a THEN x'00' END",
                                  "CASE WHEN a THEN [a] END",
                                  "CASE WHEN a THEN [end] END",
                                  "CASE WHEN a THEN `a` END",
                                  "CASE WHEN key THEN key END",
                                  "CASE WHEN row NOT NULL THEN a ISNULL END",
                                  "CASE WHEN a IS DISTINCT FROM end THEN a END",
                                  "a GLOB row",
                                  "row"}) {
      std::string columns = "a";
      for (const std::string& column : Names{name, "end", "key", "row"}) {
        columns.append(mentions(columns, quoted_name(column)) ? "" : ", " + quoted_name(column));
      }
      execute(db, "SAVEPOINT keywords; CREATE TABLE t(" + columns + ")");
      const std::string index = "CREATE INDEX i ON t(a) WHERE " + sql;
      if (sqlite3_exec(db, index.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
        execute(db, "ALTER TABLE t RENAME COLUMN " + quoted_name(name) + " TO other");
        if (stored_sql(db, "main", "index", "i") != index) {
          EXPECT_TRUE(may_name(sql, name)) << sql << ": " << name;
          ++named;
        } else {
          EXPECT_FALSE(may_name(sql, name)) << sql << ": " << name;
          ++not_named;
        }
      }
      execute(db, "ROLLBACK TO keywords; RELEASE keywords");
    }
  }
  EXPECT_GT(named, 10);
  EXPECT_GT(not_named, 300);
}

}  // namespace
}  // namespace bloom::sqlite
