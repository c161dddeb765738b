// Writes and parses names and string literals of SQL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloom::sqlite {

// Return a name in double quotes and a string in single quotes, for use in SQL. Quotes within the
// text are doubled.
std::string quoted_name(std::string_view name);
std::string text_literal(std::string_view text);
// Returns a column in backticks, for an expression. If the column is gone, SQLite refuses `x`, but
// would read "x" as a string.
std::string quoted_column(std::string_view name);

// In UTF-8. SQLite skips it in front of a token, like a blank.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns the text without white space at both ends.
std::string_view trimmed(std::string_view text);

// Returns the text within quotes, which may be " or '. A doubled quote stands for one. Returns
// nullopt if the text is not exactly one token in quotes.
std::optional<std::string> unquoted(std::string_view text);

// Returns the size in bytes of the quoted name or string that the text begins with, or else 1.
// Requires: the text is not empty.
std::size_t quoted_size(std::string_view text);

// Removes the first token of SQL, and the blanks and comments in front of it, and returns the
// token: a word, a name or string in quotes or brackets, or one character; empty at the end.
std::string_view next_token(std::string_view& sql);
// Returns the name that a token of next_token() spells.
std::string name_of_token(std::string_view token);

// Returns EXPLAIN and the statement, without semicolons in front of it. SQLite allows these there,
// but not behind EXPLAIN.
std::string explain(std::string_view statement);

// Returns whether the statement is a PRAGMA. SQLite runs some of these when it prepares them, with
// EXPLAIN, too.
bool is_pragma(std::string_view statement);

// Returns whether an expression may name a column, in any case of letters.
bool may_name(std::string_view sql, const std::string& column);

// Returns whether the text has the word in it, in any case. Also finds it within other words and
// quotes.
bool mentions(std::string_view sql, std::string_view word);

// Returns whether the statement has the keyword, in any case, outside of comments and quotes.
bool has_keyword(std::string_view sql, std::string_view keyword);

// Returns whether two statements differ only in spaces. SQLite may add spaces when it renames.
bool same_sql(std::string_view a, std::string_view b);

// Returns the names in a list such as (a, "b c"), or the single name in a text without parentheses.
// A missing name, as in (a,), is returned as an empty string.
std::vector<std::string> parse_names(std::string_view text);

}  // namespace bloom::sqlite
