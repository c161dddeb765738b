#include "sql/vtab/option_reader.h"

#include <algorithm>
#include <cctype>

#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/arguments.h"

namespace bloom {

using sqlite::quoted_text;

namespace {

// No such word is a number.
bool is_plain_word(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return (c < 0x80 && std::isalnum(c) != 0) || c == '_';
         });
}

}  // namespace

// SQLite decides which words are numbers, by the affinity of a comparison.
// sqlite3_value_numeric_type() is not used: SQLite 3.53 crashes when it gets a copy of a value.
OptionConverter::Converted OptionConverter::convert(std::string_view text) {
  if (!select_) {
    select_.emplace(
        db_, "SELECT CASE WHEN CAST(?1 AS NUMERIC) = ?1 THEN CAST(?1 AS NUMERIC) ELSE ?1 END, ?1");
  }
  const std::optional<std::string> inner = sqlite::unquoted(text);
  sqlite::Execution run(*select_);
  run.bind(1, inner ? std::string_view(*inner) : text).step();
  return {run.value(inner ? 1 : 0).copy(), run.value(0).copy()};
}

const OptionConverter::Converted& OptionArgument::values() const {
  if (!values_) {
    values_ = converter_.convert(text);
  }
  return *values_;
}

std::uint64_t OptionArgument::integer(std::uint64_t low, std::uint64_t high) const {
  return integer_argument(unquoted_value(), name, low, high);
}

std::string OptionArgument::word(std::string_view rule) const {
  if (is_plain_word(text)) {
    return std::string(text);
  }
  if (value().type() != SQLITE_TEXT || value().text().empty()) {
    refuse(name, rule, value().describe());
  }
  return std::string(value().text());
}

std::vector<std::string> OptionArgument::words() const {
  std::vector<std::string> names = sqlite::parse_names(text);
  if (std::find(names.begin(), names.end(), "") != names.end()) {
    refuse(name, "a name, or names in brackets: (a, b)", quoted_text(text));
  }
  return names;
}

bool OptionArgument::is_first_of(const char* first, const char* second) const {
  const std::string rule = std::string(first) + " or " + second;
  const std::string given = word(rule);
  const bool is_first = sqlite3_stricmp(given.c_str(), first) == 0;
  if (!is_first && sqlite3_stricmp(given.c_str(), second) != 0) {
    refuse(name, rule, value().describe());
  }
  return is_first;
}

Collation OptionArgument::collation() const {
  const auto known = collation_named(word(kCollationRule));
  if (!known) {
    refuse(name, kCollationRule, value().describe());
  }
  return *known;
}

std::pair<std::string, std::string_view> split_option(std::string_view argument) {
  const std::string_view text = sqlite::trimmed(argument);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    refuse("an option", "name=value, as capacity=1000000", quoted_text(text));
  }
  return {std::string(sqlite::trimmed(text.substr(0, equals))),
          sqlite::trimmed(text.substr(equals + 1))};
}

void require_no_lost_comma(std::string_view argument, const std::vector<const char*>& names) {
  const auto begins_with_option = [&](std::string_view text) {
    return std::any_of(names.begin(), names.end(), [&](const std::string_view name) {
      return text.size() > name.size() &&
             sqlite3_strnicmp(text.data(), name.data(), static_cast<int>(name.size())) == 0 &&
             sqlite::trimmed(text.substr(name.size())).starts_with('=');
    });
  };
  const std::string_view all = sqlite::trimmed(argument);
  for (std::size_t i = 0; i < all.size(); i += sqlite::quoted_size(all.substr(i))) {
    const std::string_view before = all.substr(0, i);
    const std::string_view first = sqlite::trimmed(before);
    if (before.size() != first.size() && !first.ends_with('=') &&
        begins_with_option(all.substr(i))) {
      fail("a comma is missing between two options: " + quoted_text(all) + " (write " +
           std::string(first) + ", " + std::string(all.substr(i)) + ")");
    }
  }
}

void refuse_repeated_option(const char* name) {
  fail(std::string("option ") + name + " is given twice");
}

void refuse_unknown_option(const std::string& name, const std::vector<const char*>& known) {
  std::string names;
  for (const char* each : known) {
    names.append(names.empty() ? "" : each == known.back() ? " and " : ", ").append(each);
  }
  fail("unknown option " + quoted_text(name) + " (the options are " + names + ")");
}

}  // namespace bloom
