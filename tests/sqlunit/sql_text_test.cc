#include "sql/sqlite/sql_text.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

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
  EXPECT_EQ(token_size("abc"), 1U);
  EXPECT_EQ(token_size("'a''b' c"), 6U);
  EXPECT_EQ(token_size("\"a'b\"'"), 5U);
  EXPECT_EQ(token_size("'open"), 5U);
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

}  // namespace
}  // namespace bloom::sqlite
