#include "sql/search_table/search_options.h"

#include <algorithm>
#include <cctype>

#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using Argument = OptionArgument;

// Returns where the AS of `expression AS name` begins; npos if there is none.
std::size_t find_as(std::string_view text) {
  std::size_t found = std::string_view::npos;
  const auto is_space = [&](std::size_t i) {
    return std::isspace(static_cast<unsigned char>(text[i])) != 0;
  };
  for (std::size_t i = 0; i < text.size(); i += sqlite::quoted_size(text.substr(i))) {
    if (i > 0 && i + 3 < text.size() && is_space(i - 1) && is_space(i + 2) &&
        sqlite3_strnicmp(text.data() + i, "AS", 2) == 0) {
      found = i;
    }
  }
  return found;
}

// Returns whether the brackets of an expression belong to each other. The statements of the table
// put others around it.
bool has_balanced_brackets(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size() && depth >= 0; i += sqlite::quoted_size(text.substr(i))) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
  }
  return depth == 0;
}

// Returns the arguments of a call: the text up to the bracket that closes it.
std::string_view arguments_of(std::string_view after_bracket) {
  int depth = 1;
  std::size_t i = 0;
  for (; i < after_bracket.size(); i += sqlite::quoted_size(after_bracket.substr(i))) {
    const char c = after_bracket[i];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) {
      break;
    }
  }
  return after_bracket.substr(0, i);
}

// Returns whether an expression may give another value at another time, because it calls a date
// function without a date, or with one of these words. SQLite notices that only when it computes
// the value for an index.
bool may_read_clock(std::string_view sql) {
  constexpr std::pair<std::string_view, std::size_t> kFunctions[] = {
      {"date", 1},      {"time", 1},     {"datetime", 1}, {"julianday", 1},
      {"unixepoch", 1}, {"strftime", 2}, {"timediff", 2}};
  constexpr std::string_view kWords[] = {"now", "localtime", "utc", "subsec", "subsecond"};
  const bool has_word =
      std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
        return sqlite::mentions(sql, sqlite::text_literal(word)) ||
               sqlite::mentions(sql, sqlite::quoted_name(word));
      });
  // Something between its name and its arguments may hide the call.
  const bool may_hide = sqlite::mentions(sql, "/*") || sqlite::mentions(sql, "--") ||
                        sqlite::mentions(sql, sqlite::kByteOrderMark);
  if (may_hide &&
      std::any_of(std::begin(kFunctions), std::end(kFunctions),
                  [&](const auto& function) { return sqlite::mentions(sql, function.first); })) {
    return true;
  }
  for (std::size_t open = sql.find('('); open != std::string_view::npos;
       open = sql.find('(', open + 1)) {
    std::string_view name = sqlite::trimmed(sql.substr(0, open));
    const bool is_quoted = name.ends_with('"') || name.ends_with('`') || name.ends_with(']');
    name.remove_suffix(is_quoted ? 1 : 0);
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
    name.remove_prefix(static_cast<std::size_t>(
        name.rend() - std::find_if_not(name.rbegin(), name.rend(), is_letter)));
    const std::string_view arguments = arguments_of(sql.substr(open + 1));
    const std::size_t count = sqlite::trimmed(arguments).empty() ? 0 : split_list(arguments).size();
    if (std::any_of(std::begin(kFunctions), std::end(kFunctions), [&](const auto& function) {
          return name.size() == function.first.size() && sqlite::mentions(name, function.first) &&
                 (has_word || count < function.second);
        })) {
      return true;
    }
  }
  return false;
}

// Also finds the function like().
bool has_like(std::string_view sql) {
  constexpr std::string_view kLike = "like";
  return sqlite::has_keyword(sql, kLike) || sqlite::mentions(sql, "\"like\"") ||
         sqlite::mentions(sql, "`like`") || sqlite::mentions(sql, "[like]");
}

}  // namespace

const char* name_of(SearchedBy by) {
  return by == SearchedBy::like ? "like" : by == SearchedBy::words ? "words" : "equal";
}

const OptionReader<SearchOptions> SearchOptions::kReaders[] = {
    {"source", [](SearchOptions& o, const Argument& w) { o.source_ = w.word(); }},
    {"like", [](SearchOptions& o, const Argument& w) { o.read_columns(SearchedBy::like, w); }},
    {"words", [](SearchOptions& o, const Argument& w) { o.read_columns(SearchedBy::words, w); }},
    {"equal", [](SearchOptions& o, const Argument& w) { o.read_equal(w); }},
};

SearchOptions::SearchOptions(sqlite3* db, std::span<const char* const> arguments) {
  read_options<SearchOptions>(db, arguments, kReaders, *this);
  if (source_.empty() || items_.empty()) {
    fail(
        "give the table to search, and its columns: source=log and at least one of like=(msg), "
        "words=(msg) and equal=(user)");
  }
}

void SearchOptions::read_columns(SearchedBy by, const OptionArgument& argument) {
  for (const std::string& name : argument.words()) {
    items_.push_back({by, name, ""});
  }
}

void SearchOptions::read_equal(const OptionArgument& argument) {
  std::string_view list = argument.text;
  if (list.starts_with('(') && list.ends_with(')')) {
    list = list.substr(1, list.size() - 2);
  }
  for (const std::string& entry : split_list(list)) {
    const std::size_t as = find_as(entry);
    const std::string_view name = sqlite::trimmed(
        as == std::string::npos ? std::string_view(entry) : std::string_view(entry).substr(as + 2));
    const bool is_name = std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
    });
    if (name.empty() || !has_balanced_brackets(entry) || (!is_name && !sqlite::unquoted(name))) {
      refuse(argument.name, "columns, and expressions with a name: (user, payload->>'$.id' AS id)",
             sqlite::quoted_text(entry));
    }
    if (as != std::string::npos && has_like(entry)) {
      refuse(argument.name,
             "expressions without LIKE, because PRAGMA case_sensitive_like changes its result",
             sqlite::quoted_text(entry));
    }
    if (may_read_clock(entry)) {
      refuse(argument.name,
             "expressions that depend on the row alone, not on the time or time zone",
             sqlite::quoted_text(entry));
    }
    const std::string_view expression =
        as == std::string::npos ? "" : sqlite::trimmed(std::string_view(entry).substr(0, as));
    items_.push_back({SearchedBy::equal, sqlite::unquoted(name).value_or(std::string(name)),
                      std::string(expression)});
  }
}

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  std::size_t i = 0;
  const auto end_part = [&] {
    parts.emplace_back(sqlite::trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  };
  for (; i < list.size(); i += sqlite::quoted_size(list.substr(i))) {
    depth += list[i] == '(' ? 1 : list[i] == ')' ? -1 : 0;
    if (list[i] == ',' && depth == 0) {
      end_part();
    }
  }
  end_part();
  return parts;
}

}  // namespace bloom
