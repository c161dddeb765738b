#include "sql/sqlite/sql_text.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <span>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {
namespace {

std::string between(char quote, std::string_view text) {
  std::string quoted(1, quote);
  for (const char c : text) {
    quoted.append(c == quote ? 2 : 1, c);
  }
  return quoted.append(1, quote);
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_quote(char c) { return c == '"' || c == '\''; }

// Returns 0 if the text begins with something else. A number is a word that ends before the next
// letter, as in ?1LEFT. U+FEFF in front of a word is one, because SQLite skips it there.
std::size_t size_of_word(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) {
    return kByteOrderMark.size();
  }
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const bool is_number = !text.empty() && is_digit(static_cast<unsigned char>(text.front()));
  const auto* const end = std::find_if_not(text.begin(), text.end(), [&](unsigned char c) {
    return is_digit(c) ||
           (!is_number && (std::isalpha(c) != 0 || c == '_' || c == '$' || c >= 0x80));
  });
  return static_cast<std::size_t>(end - text.begin());
}

// Returns the size of the comment or the name in ` or [ at the front; 0 if there is none.
std::size_t size_of_comment_or_name(std::string_view text) {
  constexpr std::string_view kDelimiters[][2] = {
      {"--", "\n"}, {"/*", "*/"}, {"`", "`"}, {"[", "]"}};
  for (const auto& [begin, end] : kDelimiters) {
    if (text.starts_with(begin)) {
      const std::size_t at = text.find(end, begin.size());
      return at == std::string_view::npos ? text.size() : at + end.size();
    }
  }
  return 0;
}

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view each) { return is_same(word, each); });
}

// Returns false if the token may be an operator or the beginning of an expression.
bool ends_operand(std::string_view token) {
  constexpr std::string_view kOperators[] = {
      "AND",  "AS", "BETWEEN", "CASE", "COLLATE", "DISTINCT", "ELSE", "ESCAPE", "EXISTS", "FROM",
      "GLOB", "IN", "IS",      "LIKE", "MATCH",   "NOT",      "OR",   "REGEXP", "THEN",   "WHEN"};
  if (size_of_word(token) != token.size()) {
    return std::string_view(")'\"[`").find(token.front()) != std::string_view::npos;
  }
  return !token.empty() && !is_one_of(token, kOperators);
}

// Returns whether a word without quotes is certainly no name. `before`: the token before it. SQLite
// takes END for a name unless an operand ends before it.
bool is_keyword(std::string_view word, std::string_view before) {
  constexpr std::string_view kReserved[] = {
      "AND",    "AS", "BETWEEN", "CASE",    "COLLATE", "ELSE", "ESCAPE", "EXISTS", "IN",
      "ISNULL", "IS", "NOT",     "NOTNULL", "NULL",    "OR",   "THEN",   "WHEN"};
  return (is_same(word, "END") && ends_operand(before)) || is_one_of(word, kReserved);
}

std::size_t size_of_name(std::string_view list) {
  std::size_t size = 0;
  while (size < list.size() && list[size] != ',') {
    size += quoted_size(list.substr(size));
  }
  return size;
}

}  // namespace

std::string quoted_name(std::string_view name) { return between('"', name); }
std::string quoted_column(std::string_view name) { return between('`', name); }
std::string text_literal(std::string_view text) { return between('\'', text); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || !is_quote(text.front()) || quoted_size(text) != text.size() ||
      text.back() != text.front()) {
    return std::nullopt;
  }
  std::string inner;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    inner += text[i];
    i += text[i] == text.front() ? 1 : 0;
  }
  return inner;
}

std::size_t quoted_size(std::string_view text) {
  assert(!text.empty());
  if (!is_quote(text.front())) {
    return 1;
  }
  std::size_t end = 1;
  for (; end < text.size(); ++end) {
    if (text[end] == text.front()) {
      const bool doubled = end + 1 < text.size() && text[end + 1] == text.front();
      if (!doubled) {
        return end + 1;
      }
      ++end;
    }
  }
  return text.size();
}

std::string_view next_token(std::string_view& sql) {
  std::size_t skipped = 0;
  do {
    sql = trimmed(sql);
    skipped = sql.starts_with("--") || sql.starts_with("/*") ? size_of_comment_or_name(sql)
              : sql.starts_with(kByteOrderMark)              ? kByteOrderMark.size()
                                                             : 0;
    sql.remove_prefix(skipped);
  } while (skipped != 0);
  if (sql.empty()) {
    return sql;
  }
  const std::string_view token =
      sql.substr(0, std::max({size_of_word(sql), size_of_comment_or_name(sql), quoted_size(sql)}));
  sql.remove_prefix(token.size());
  return token;
}

std::string explain(std::string_view statement) {
  for (std::string_view rest = statement; next_token(rest) == ";";) {
    statement = rest;
  }
  return "EXPLAIN " + std::string(statement);
}

bool is_pragma(std::string_view statement) {
  std::string_view token = next_token(statement);
  while (token == ";") {
    token = next_token(statement);
  }
  return is_same(token, "PRAGMA");
}

std::string name_of_token(std::string_view token) {
  if (token.size() >= 2 && token.front() == '[') {
    return std::string(token.substr(1, token.size() - 2));
  }
  std::string quoted(token);
  if (token.starts_with('`')) {
    quoted.front() = quoted.back() = '"';
  }
  return unquoted(quoted).value_or(quoted);
}

bool mentions(std::string_view sql, std::string_view word) {
  const auto is_same = [](char a, char b) { return sqlite3_strnicmp(&a, &b, 1) == 0; };
  return std::search(sql.begin(), sql.end(), word.begin(), word.end(), is_same) != sql.end();
}

bool has_keyword(std::string_view sql, std::string_view keyword) {
  while (!sql.empty()) {
    const std::size_t word = size_of_word(sql);
    if (word == keyword.size() && mentions(sql.substr(0, word), keyword)) {
      return true;
    }
    sql.remove_prefix(std::max({word, size_of_comment_or_name(sql), quoted_size(sql)}));
  }
  return false;
}

bool same_sql(std::string_view a, std::string_view b) {
  if (a == b) {
    return true;
  }
  const auto skip_spaces = [](std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  };
  for (;;) {
    skip_spaces(a);
    skip_spaces(b);
    if (a.empty() || b.empty()) {
      return a.empty() && b.empty();
    }
    const std::size_t size = quoted_size(a);
    if (a.substr(0, size) != b.substr(0, size)) {
      return false;
    }
    a.remove_prefix(size);
    b.remove_prefix(size);
  }
}

// A word before a bracket is a function, and one after AS is a type: AS occurs only in CAST.
bool may_name(std::string_view sql, const std::string& column) {
  std::string_view before;
  bool is_type = false;
  for (std::string_view token = next_token(sql); !token.empty(); token = next_token(sql)) {
    std::string_view rest = sql;
    const bool is_word = size_of_word(token) == token.size();
    const bool is_other =
        token.front() == '\'' || (is_word && (is_type || next_token(rest) == "("));
    // next_token() takes a name with ` in it for two names.
    const bool is_unclear = token.front() == '`' && sql.starts_with('`');
    if (!is_other && (is_unclear || is_same(name_of_token(token), column)) &&
        !(is_word && is_keyword(token, before))) {
      return true;
    }
    is_type = token != ")" && (is_type || (is_word && is_same(token, "AS")));
    before = token;
  }
  return false;
}

std::vector<std::string> parse_names(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
    return {unquoted(text).value_or(std::string(text))};
  }
  std::vector<std::string> names;
  for (text = text.substr(1, text.size() - 2);;) {
    const std::size_t size = size_of_name(text);
    const std::string_view name = trimmed(text.substr(0, size));
    names.push_back(unquoted(name).value_or(std::string(name)));
    if (size == text.size()) {
      return names;
    }
    text.remove_prefix(size + 1);
  }
}

}  // namespace bloom::sqlite
