#include "sql/table/source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Statement;

constexpr std::array<std::string_view, 5> kSuffixes = {
    "_before_insert", "_before_update", "_after_insert", "_after_update", "_after_delete"};

// Returns the columns of `row` ("old" or "new") that a trigger uses, each written row."column". Our
// triggers quote every name, and SQLite keeps the quotes when it renames a column.
std::vector<std::string> columns_of(std::string_view row, std::string_view trigger) {
  const std::string prefix = std::string(row).append(".\"");
  std::vector<std::string> columns;
  while (!trigger.empty()) {
    const bool column = trigger.starts_with(prefix);
    trigger.remove_prefix(column ? prefix.size() - 1 : 0);
    const std::size_t size = sqlite::token_size(trigger);
    if (column) {
      columns.push_back(sqlite::unquoted(trigger.substr(0, size)).value_or(""));
    }
    trigger.remove_prefix(size);
  }
  return columns;
}

// The text that every trigger of the bloom table `table` contains.
std::string values_for(const std::string& table) {
  return std::string("(").append(quoted_name(table)).append(", key) VALUES (");
}

// Returns whether a trigger looks like one that a bloom table has made, by its name and its text.
bool is_of_a_filter(std::string_view name, std::string_view sql) {
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) {
    return name.ends_with(suffix) &&
           sql.find(values_for(std::string(name.substr(0, name.size() - suffix.size())))) !=
               std::string_view::npos;
  });
}

// Ignores case. Also finds the word within quotes.
bool mentions(std::string_view sql, std::string_view word) {
  const auto is_same = [](char a, char b) { return sqlite3_strnicmp(&a, &b, 1) == 0; };
  return std::search(sql.begin(), sql.end(), word.begin(), word.end(), is_same) != sql.end();
}

// Returns whether two statements differ only in spaces. SQLite may add spaces when it renames.
bool same_sql(std::string_view a, std::string_view b) {
  const auto skip_spaces = [](std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  };
  for (;;) {
    skip_spaces(a);
    skip_spaces(b);
    if (a.empty() || b.empty()) {
      return a.empty() && b.empty();
    }
    const std::size_t size = sqlite::token_size(a);
    if (a.substr(0, size) != b.substr(0, size)) {
      return false;
    }
    a.remove_prefix(size);
    b.remove_prefix(size);
  }
}

}  // namespace

// The properties of a column that decide which triggers can follow it.
struct Source::ColumnFacts {
  // An UPDATE can change the column without naming it in SET. The column is generated, or may be an
  // alias of the rowid.
  bool nameless = false;
  // A BEFORE trigger may see another value, or none. There are three cases: SQLite chooses the
  // rowid, replaces NULL with a default, or reads columns again that the UPDATE does not set.
  bool needs_after = false;
};

struct Source::Trigger {
  std::string name;
  std::string sql;  // as in sqlite_schema
  std::string source;
};

std::string Source::qualified(std::string_view name) const {
  return quoted_name(schema_) + "." + quoted_name(name);
}

std::string Source::key_of(std::string_view row) const {
  std::string list;
  for (const std::string& column : names_.columns) {
    list.append(list.empty() ? "" : ", ").append(row).append(".").append(quoted_name(column));
  }
  return names_.columns.size() == 1 ? list : "bloom_key(" + list + ")";
}

std::string Source::collation_name(const std::string& column) const {
  const char* name = nullptr;
  sqlite3_table_column_metadata(db_, schema_.c_str(), names_.table.c_str(), column.c_str(), nullptr,
                                &name, nullptr, nullptr, nullptr);
  return name == nullptr ? "" : name;
}

// A composite key is always BINARY, since its columns are not compared one by one. Virtual tables
// are skipped first: in SQLite 3.54 column metadata must not be read for a virtual table that is
// not yet connected.
Collation Source::collation() const {
  if (names_.columns.size() != 1 || unsupported_type() != nullptr) {
    return Collation::binary;
  }
  return collation_named(collation_name(names_.columns.front())).value_or(Collation::binary);
}

const char* Source::unsupported_type() const {
  const Statement select(db_, "SELECT type, rootpage FROM " + qualified("sqlite_master") +
                                  " WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')");
  Execution run(select);
  if (!run.bind(1, names_.table).step()) {
    return "none of that name";
  }
  if (run.value(0).text() != "table") {
    return "a view";
  }
  if (run.integer(1) == 0) {
    return "a virtual table";
  }
  return is_shadow() ? "a table that belongs to a virtual one" : nullptr;
}

// Before 3.37 SQLite has no PRAGMA table_list, so shadow tables are not detected.
bool Source::is_shadow() const {
  constexpr int kTells = 3037000;
  if (sqlite3_libversion_number() < kTells) {
    return false;
  }
  const Statement list(db_, pragma("table_list"));
  Execution run(list);
  constexpr int kType = 2;
  return run.step() && run.value(kType).text() == "shadow";
}

// The table-valued form of a pragma also loads the other schemas. If one of those has changed,
// SQLite discards the table objects of this schema as well.
std::string Source::pragma(const char* name) const {
  return "PRAGMA " + qualified(name) + "(" + quoted_name(names_.table) + ")";
}

void Source::require_fit(Collation collation) const {
  if (const char* other = unsupported_type()) {
    refuse("source " + quoted_text(names_.table), "an ordinary table",
           std::string(other) + " in the schema " + schema_);
  }
  if (names_.columns.size() > 1 && collation != Collation::binary) {
    refuse("collate", "binary for a key of several columns", name_of(collation));
  }
  for (const std::string& column : names_.columns) {
    if (!facts_of(column)) {
      refuse("column", "one of " + names_.table, quoted_text(column));
    }
    const std::string name = collation_name(column);
    const bool possible = names_.columns.size() == 1 && collation_named(name);
    if (collation_named(name) != collation) {
      refuse("the collation of column " + quoted_text(column),
             possible ? std::string(name_of(collation)) + ", which is that of the filter"
             : names_.columns.size() > 1
                 ? "BINARY in a key of several columns (lower() in a generated column can help)"
                 : "BINARY, NOCASE or RTRIM",
             name);
    }
  }
}

std::optional<Source::ColumnFacts> Source::facts_of(const std::string& column) const {
  enum { kName = 1, kType = 2, kNotNull = 3, kDefault = 4, kKey = 5, kHidden = 6 };
  const Statement info(db_, pragma("table_xinfo"));
  Execution run(info);
  const auto is = [&](int i, const std::string& text) {
    return sqlite3_stricmp(std::string(run.value(i).text()).c_str(), text.c_str()) == 0;
  };
  while (run.step()) {
    if (is(kName, column)) {
      const bool generated = run.integer(kHidden) != 0;
      const bool nameless = generated || (run.integer(kKey) != 0 && is(kType, "INTEGER"));
      const bool replaced = run.integer(kNotNull) != 0 && run.type(kDefault) != SQLITE_NULL;
      return ColumnFacts{.nameless = nameless, .needs_after = nameless || replaced};
    }
  }
  return std::nullopt;
}

Source::ColumnFacts Source::facts() const {
  ColumnFacts all;
  all.needs_after = names_.columns.size() > 1;
  for (const std::string& column : names_.columns) {
    const ColumnFacts one = facts_of(column).value_or(ColumnFacts{});
    all.nameless = all.nameless || one.nameless;
    all.needs_after = all.needs_after || one.needs_after;
  }
  return all;
}

// UPDATE OF fires only if SET names one of the columns. For a column that can change without being
// named, the trigger must fire on every UPDATE.
std::string Source::update_event(const ColumnFacts& facts) const {
  std::string columns;
  std::string differs;
  for (const std::string& column : names_.columns) {
    const std::string name = quoted_name(column);
    columns.append(columns.empty() ? " OF " : ", ").append(name);
    differs.append(differs.empty() ? " WHEN " : " OR ");
    differs.append("old.").append(name).append(" IS NOT new.").append(name);
  }
  return "UPDATE" + (facts.nameless ? "" : columns) + " ON " + quoted_name(names_.table) + differs;
}

std::vector<Source::Trigger> Source::triggers(const std::string& table, const std::string& target,
                                              std::uint64_t set) const {
  const auto change = [&](std::string_view command, std::string_view row) {
    return " INSERT INTO " + quoted_name(target) + values_for(table) +
           sqlite::text_literal(command) + ", " + key_of(row) + ");";
  };
  std::vector<Trigger> triggers;
  const auto trigger = [&](std::string_view suffix, const std::string& event,
                           const std::string& body) {
    const std::string name = table + std::string(suffix);
    const std::string_view time = suffix.starts_with("_before") ? " BEFORE " : " AFTER ";
    std::string sql = "CREATE TRIGGER " + quoted_name(name);
    sql.append(time).append(event).append(" BEGIN").append(body).append(" END");
    triggers.push_back({name, sql, names_.table});
  };
  const ColumnFacts column = facts();
  const std::string on = " ON " + quoted_name(names_.table);
  const std::string update = update_event(column);
  const std::string add = change(kAdd, "new");
  const std::string remove = change(kRemove, "old");
  const bool add_after = counting_ || column.needs_after;
  if (!counting_ || set >= kTriggerVersion) {
    const std::string before = counting_ ? change(kExpect, "new") : add;
    trigger("_before_insert", "INSERT" + on, before);
    trigger("_before_update", update, before);
  }
  if (add_after) {
    trigger("_after_insert", "INSERT" + on, add);
  }
  trigger("_after_update", update, remove + (add_after ? add : ""));
  trigger("_after_delete", "DELETE" + on, remove);
  return triggers;
}

std::string Source::guard_sql(const std::string& name) const {
  std::string columns;
  for (const std::string& column : names_.columns) {
    columns.append(columns.empty() ? "" : ", ").append(quoted_name(column));
  }
  return quoted_name(name) + " ON " + quoted_name(names_.table) + "(" + columns + ") WHERE 0";
}

bool Source::has_object(const std::string& name) const {
  const Statement select(
      db_, "SELECT 1 FROM " + qualified("sqlite_master") + " WHERE name = ?1 COLLATE NOCASE");
  return Execution(select).bind(1, name).step();
}

std::string Source::make_guard(const std::string& table) const {
  const std::string first = table + "_guard";
  std::string name = first;
  for (int i = 2; has_object(name); ++i) {
    name = first + std::to_string(i);
  }
  sqlite::execute(db_, "CREATE INDEX " + quoted_name(schema_) + "." + guard_sql(name));
  return name;
}

bool Source::has_guard(const std::string& name) const {
  const Statement select(db_, "SELECT sql FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'index' AND name = ?1 COLLATE NOCASE");
  Execution run(select);
  return run.bind(1, name).step() && run.type(0) == SQLITE_TEXT &&
         same_sql(run.value(0).text(), "CREATE INDEX " + guard_sql(name));
}

void Source::drop_guard(const std::string& name) const {
  const Statement select(db_, "SELECT 1 FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'index' AND name = ?1 COLLATE NOCASE"
                                  " AND sql LIKE '%) WHERE 0'");
  if (Execution(select).bind(1, name).step()) {
    sqlite::execute(db_, "DROP INDEX " + qualified(name));
  }
}

bool Source::needs_after() const { return counting_ || facts().needs_after; }

void Source::install(const std::string& table, std::uint64_t set) const {
  constexpr std::string_view kCreate = "CREATE TRIGGER ";
  for (const Trigger& trigger : triggers(table, table, set)) {
    sqlite::execute(db_, std::string(kCreate) + quoted_name(schema_) + "." +
                             trigger.sql.substr(kCreate.size()));
  }
}

// Other tables may have triggers of the same names. A trigger is dropped only if it writes to the
// bloom table, or belongs to the source.
void Source::uninstall(const std::string& table) const {
  for (const Trigger& trigger : stored_triggers(table)) {
    if (trigger.sql.find(values_for(table)) != std::string::npos ||
        sqlite3_stricmp(trigger.source.c_str(), names_.table.c_str()) == 0) {
      sqlite::execute(db_, "DROP TRIGGER " + qualified(trigger.name));
    }
  }
}

std::vector<Source::Trigger> Source::stored_triggers(const std::string& table) const {
  const Statement select(db_, "SELECT name, sql, tbl_name FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'trigger' AND name COLLATE NOCASE IN "
                                  "(?1, ?2, ?3, ?4, ?5)");
  std::array<std::string, kSuffixes.size()> names;
  Execution run(select);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = table + std::string(kSuffixes[i]);
    run.bind(static_cast<int>(i) + 1, names[i]);
  }
  std::vector<Trigger> triggers;
  while (run.step()) {
    triggers.push_back({std::string(run.value(0).text()), std::string(run.value(1).text()),
                        std::string(run.value(2).text())});
  }
  return triggers;
}

bool Source::refresh_from_triggers(const std::string& table, const std::string& target,
                                   std::uint64_t set) {
  names_ = names_from_options_;
  const std::vector<Trigger> stored = stored_triggers(table);
  const auto named = [&](const std::string& name) {
    return std::find_if(stored.begin(), stored.end(), [&](const Trigger& trigger) {
      return sqlite3_stricmp(trigger.name.c_str(), name.c_str()) == 0;
    });
  };
  const auto is_stored = [&](const Trigger& trigger) {
    const auto found = named(trigger.name);
    return found != stored.end() && same_sql(found->sql, trigger.sql);
  };
  const auto last = named(table + std::string(kSuffixes.back()));
  if (last == stored.end()) {
    return false;
  }
  names_ = {last->source, columns_of("old", last->sql)};
  const std::vector<Trigger> wanted = triggers(table, target, set);
  if (!is_stored(wanted.back())) {
    names_ = names_from_options_;
    return false;
  }
  return std::all_of(wanted.begin(), wanted.end(), is_stored);
}

std::int64_t Source::schema_version() {
  if (!select_version_) {
    select_version_.emplace(db_, "PRAGMA " + quoted_name(schema_) + ".schema_version");
  }
  Execution run(*select_version_);
  run.step();
  return run.integer(0);
}

std::int64_t Source::temp_schema_version() {
  if (!select_temp_version_) {
    select_temp_version_.emplace(db_, "PRAGMA " + std::string("temp") + ".schema_version");
  }
  Execution run(*select_temp_version_);
  run.step();
  return run.integer(0);
}

// A filter that gets keys from AFTER triggers always has the trigger _after_insert. Triggers of
// other filters do not block it: when they fail, the whole statement fails.
std::optional<std::string> Source::blocking_trigger(const std::string& table) const {
  const std::string triggers = qualified("sqlite_master") + " WHERE type = 'trigger'";
  const Statement select(
      db_, "SELECT name, sql FROM " + triggers +
               " AND tbl_name = ?1 COLLATE NOCASE AND rowid > (SELECT rowid FROM " + triggers +
               " AND name = ?2 COLLATE NOCASE)");
  const std::string first = table + "_after_insert";
  Execution run(select);
  run.bind(1, names_.table).bind(2, first);
  while (run.step()) {
    const std::string_view name = run.value(0).text();
    const std::string_view sql = run.value(1).text();
    if (mentions(sql, "AFTER") && !is_of_a_filter(name, sql)) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

// Any TEMP trigger that may run AFTER counts. A TEMP trigger on a table of the same name in another
// schema counts as well; that is a false alarm.
std::optional<std::string> Source::blocking_temp_trigger() const {
  const Statement select(db_,
                         "SELECT name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
                         " AND tbl_name = ?1 COLLATE NOCASE");
  Execution run(select);
  run.bind(1, names_.table);
  while (run.step()) {
    const std::string_view name = run.value(0).text();
    const std::string_view sql = run.value(1).text();
    if (mentions(sql, "AFTER") && !is_of_a_filter(name, sql)) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

void Source::for_each_key(const std::function<void(const sqlite::Value&)>& f) const {
  const Statement select(db_,
                         "SELECT " + key_of("t") + " FROM " + qualified(names_.table) + " AS t");
  Execution run(select);
  while (run.step()) {
    if (run.type(0) != SQLITE_NULL) {
      f(run.value(0));
    }
  }
}

}  // namespace bloom
