#include "sql/source/trigger_text.h"

#include <sqlite3ext.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "sql/source/change_log.h"
#include "sql/source/trigger_sql.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::quoted_name;

std::string log_of(const std::string& table) {
  return quoted_name(table + std::string(ChangeLog::kSuffix));
}

std::string blocks_of(const std::string& table) {
  return quoted_name(table + std::string(kChangedSuffix));
}

bool contains(std::string_view sql, std::string_view part) {
  return sql.find(part) != std::string_view::npos;
}

// Returns the text with zeros in place of what is within quotes. Returns nullopt if there are
// comments or brackets: a quote within them is none.
std::optional<std::string> without_quoted(std::string_view sql) {
  std::string plain(sql);
  char quote = 0;
  for (char& c : plain) {
    const bool is_quote = c == '"' || c == '\'' || c == '`';
    if (quote == 0 && is_quote) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    c = quote != 0 || is_quote ? '\0' : c;
  }
  if (contains(plain, "[") || contains(plain, "--") || contains(plain, "/*")) {
    return std::nullopt;
  }
  return plain;
}

// Returns whether the statement writes a command to `table`, as triggers do. A key without a
// command may be NULL, and that violates a constraint.
bool begins_as_command(const std::string& table, std::string_view statement) {
  constexpr std::array kCommands = {kAddCommand, kRemoveCommand, kExpectCommand};
  const std::string insert = "INSERT INTO " + quoted_name(table) + command_text_part(table);
  return statement.starts_with(insert) &&
         std::any_of(kCommands.begin(), kCommands.end(), [&](std::string_view command) {
           return statement.substr(insert.size()).starts_with(sqlite::text_literal(command) + ", ");
         });
}

// Returns what follows ", key1, key2, ..." at the front.
std::string_view after_key_columns(std::string_view list) {
  constexpr std::string_view kKey = ", key";
  while (list.starts_with(kKey)) {
    list.remove_prefix(kKey.size());
    list.remove_prefix(std::min(list.find_first_not_of("0123456789"), list.size()));
  }
  return list;
}

// Returns whether the statement inserts into the log, or changes it, without the column id, which
// may violate a constraint.
bool begins_as_logging(const std::string& table, std::string_view statement) {
  const std::string insert = "INSERT INTO " + log_text_part(table);
  const std::string update = "UPDATE " + log_of(table) + " SET added = ";
  if (statement.starts_with(insert)) {
    return after_key_columns(statement.substr(insert.size())).starts_with(")");
  }
  return statement.starts_with(update) && statement.find(" WHERE ") == update.size() + 1;
}

// Returns whether the statement begins as one of a trigger of `table`. None of these violates a
// constraint: the block is inserted only if it is missing.
bool begins_as_own(const std::string& table, std::string_view statement) {
  const std::string log = log_of(table);
  const std::string blocks = blocks_of(table);
  return begins_as_command(table, statement) || begins_as_logging(table, statement) ||
         statement.starts_with("DELETE FROM " + log + " WHERE ") ||
         (statement.starts_with("INSERT OR IGNORE INTO " + blocks + "(block) SELECT ") &&
          contains(statement, " WHERE NOT EXISTS (SELECT 1 FROM " + blocks + " WHERE block = ")) ||
         statement.starts_with("SELECT raise(ABORT, ");
}

// Returns whether RAISE(IGNORE) or RAISE(FAIL) may be in the text, which is without what is within
// quotes.
bool may_end_early(std::string_view plain) {
  return sqlite::mentions(plain, "FAIL") || sqlite::mentions(plain, "IGNORE");
}

// `plain` is the statement without what is within quotes.
bool is_own_statement(const std::string& table, std::string_view statement,
                      std::string_view plain) {
  constexpr std::string_view kOrIgnore = "INSERT OR IGNORE ";
  const std::size_t skipped = plain.starts_with(kOrIgnore) ? kOrIgnore.size() : 0;
  return begins_as_own(table, statement) && !may_end_early(plain.substr(skipped));
}

}  // namespace

bool makes_log(std::string_view sql) {
  const std::string_view columns = sql.substr(std::min(sql.find('('), sql.size()));
  return columns.starts_with(ChangeLog::kColumns) &&
         after_key_columns(columns.substr(ChangeLog::kColumns.size())) == ")";
}

bool makes_own_table(std::string_view sql) {
  constexpr std::string_view kUsing = " USING ";
  constexpr std::array<std::string_view, 3> kModules = {"bloom", "bloom_groups", "bloom_search"};
  std::optional<std::string> plain = without_quoted(sql);
  if (!plain) {
    return false;
  }
  // What is left of a quoted name ends a word, as a blank does.
  std::replace_if(
      plain->begin(), plain->end(),
      [](char c) { return c == '\0' || std::isspace(static_cast<unsigned char>(c)) != 0; }, ' ');
  const auto is_same = [](char a, char b) { return sqlite3_strnicmp(&a, &b, 1) == 0; };
  auto word = std::search(plain->begin(), plain->end(), kUsing.begin(), kUsing.end(), is_same);
  if (word == plain->end()) {
    return false;
  }
  word = std::find_if(word + kUsing.size(), plain->end(), [](char c) { return c != ' '; });
  const auto end = std::find_if(word, plain->end(), [](char c) { return c == ' ' || c == '('; });
  return std::any_of(kModules.begin(), kModules.end(), [&](std::string_view module) {
    return std::equal(word, end, module.begin(), module.end(), is_same);
  });
}

bool writes_to(const std::string& table, std::string_view sql) {
  return contains(sql, command_text_part(table)) || contains(sql, log_text_part(table)) ||
         contains(sql, blocks_of(table) + "(");
}

bool only_writes_to(const std::string& table, std::string_view sql) {
  constexpr std::string_view kBegin = " BEGIN ";
  const std::optional<std::string> plain = without_quoted(sql);
  std::size_t at = plain ? plain->find(kBegin) : std::string::npos;
  if (at == std::string::npos || may_end_early(plain->substr(0, at))) {
    return false;
  }
  at += kBegin.size();
  for (std::size_t end = 0; (end = plain->find(';', at)) != std::string::npos; at = end + 1) {
    at += plain->at(at) == ' ' ? 1 : 0;
    const std::size_t size = end - at;
    if (!is_own_statement(table, sql.substr(at, size), plain->substr(at, size))) {
      return false;
    }
  }
  return true;
}

bool is_after_trigger(std::string_view sql) {
  const auto next_word_is = [&](std::string_view word) {
    sql = sqlite::trimmed(sql);
    std::size_t size = 0;
    while (size < sql.size() && std::isspace(static_cast<unsigned char>(sql[size])) == 0) {
      size += sqlite::token_size(sql.substr(size));
    }
    const std::string found(sql.substr(0, size));
    sql.remove_prefix(size);
    const auto contains = [&](const char* part) { return found.find(part) != std::string::npos; };
    if (contains("/*") || contains("--") || contains("[") || contains("`")) {
      return false;
    }
    return word.empty() || sqlite3_stricmp(found.c_str(), std::string(word).c_str()) == 0;
  };
  constexpr std::string_view kAnyName;
  return next_word_is("CREATE") && next_word_is("TRIGGER") && next_word_is(kAnyName) &&
         next_word_is("AFTER");
}

}  // namespace bloom
