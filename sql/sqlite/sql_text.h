// Pieces of SQL as text: names and literals, written and read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloom::sqlite {

// "a name" or 'a text', to be put into SQL.
std::string quoted_name(std::string_view name);
std::string text_literal(std::string_view text);

// Without spaces at both ends.
std::string_view trimmed(std::string_view text);

// What stands between quotes of either sort, in which a doubled quote is one; none without quotes
// around it all.
std::optional<std::string> unquoted(std::string_view text);

// The length of the first token of SQL: all that is between quotes, or one character.
std::size_t token_size(std::string_view text);

// The names in "a" or "(a, b)", each as it is or between quotes. A name that is missing is empty.
std::vector<std::string> names_in(std::string_view text);

}  // namespace bloom::sqlite
