#include "sql/source/triggers/trigger_parser.h"

#include <sqlite3ext.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "sql/source/change_log.h"
#include "sql/source/triggers/trigger_sql.h"
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

bool is_word(std::string_view token, const char* word) {
  return sqlite3_stricmp(std::string(token).c_str(), word) == 0;
}

// Removes CREATE, these words and the name. Returns false if the text begins otherwise.
bool skip_create(std::string_view& sql, std::initializer_list<const char*> words) {
  if (!is_word(sqlite::next_token(sql), "CREATE") ||
      !std::all_of(words.begin(), words.end(),
                   [&](const char* word) { return is_word(sqlite::next_token(sql), word); })) {
    return false;
  }
  sqlite::next_token(sql);
  return true;
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
  return skip_create(sql, {"TABLE"}) && sql.starts_with(ChangeLog::kColumns) &&
         after_key_columns(sql.substr(ChangeLog::kColumns.size())) == ")";
}

bool makes_own_table(std::string_view sql) {
  constexpr std::array<const char*, 3> kModules = {"bloom", "bloom_groups", "bloom_search"};
  if (!skip_create(sql, {"VIRTUAL", "TABLE"}) || !is_word(sqlite::next_token(sql), "USING")) {
    return false;
  }
  const std::string module = sqlite::name_of_token(sqlite::next_token(sql));
  return std::any_of(kModules.begin(), kModules.end(),
                     [&](const char* each) { return sqlite3_stricmp(each, module.c_str()) == 0; });
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

TriggerTime trigger_time(std::string_view sql) {
  if (!skip_create(sql, {"TRIGGER"})) {
    return TriggerTime::unknown;
  }
  const std::string_view word = sqlite::next_token(sql);
  constexpr std::array<const char*, 5> kBefore = {"BEFORE", "INSTEAD", "INSERT", "UPDATE",
                                                  "DELETE"};
  const auto is = [&](const char* each) { return is_word(word, each); };
  return is("AFTER")                                       ? TriggerTime::after
         : std::any_of(kBefore.begin(), kBefore.end(), is) ? TriggerTime::before
                                                           : TriggerTime::unknown;
}

}  // namespace bloom
