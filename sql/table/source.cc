#include "sql/table/source.h"

#include <array>
#include <optional>
#include <utility>

#include "core/error.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Run;
using sqlite::Statement;

constexpr std::array<std::string_view, 3> kTriggers = {"_after_insert", "_after_update",
                                                       "_after_delete"};

std::string trigger_name(const std::string& table, std::string_view trigger) {
  return table + std::string(trigger);
}

// The columns of `row` that a trigger names, each as row."column". All names in a trigger are
// between quotes, and stay so when SQLite changes them.
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

std::string statement_of(const std::string& table, std::string_view command,
                         const std::string& key) {
  const std::string name = quoted_name(table);
  return " INSERT INTO " + name + "(" + name + ", key) VALUES (" + sqlite::text_literal(command) +
         ", " + key + ");";
}

}  // namespace

// What of a column decides how it can be followed.
struct Source::ColumnFacts {
  bool generated = false;
  bool rowid = false;  // may be an alias of the rowid
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

// That of a composite key is binary, since its columns are not compared one by one. SQLite 3.54
// must not be asked for columns of a virtual table that it has not opened yet.
Collation Source::collation() const {
  if (names_.columns.size() != 1 || what_else_it_is() != nullptr) {
    return Collation::binary;
  }
  return collation_named(collation_name(names_.columns.front())).value_or(Collation::binary);
}

const char* Source::what_else_it_is() const {
  const Statement select(db_, "SELECT type, rootpage FROM " + qualified("sqlite_master") +
                                  " WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')");
  Run run(select);
  if (!run.bind(1, names_.table).step()) {
    return "none of that name";
  }
  if (run.value(0).text() != "table") {
    return "a view";
  }
  return run.integer(1) == 0 ? "a virtual table" : nullptr;
}

void Source::require_fit(Collation collation) const {
  if (const char* other = what_else_it_is()) {
    refuse("source " + quoted_text(names_.table), "an ordinary table",
           std::string(other) + " in the schema " + schema_);
  }
  for (const std::string& column : names_.columns) {
    facts_of(column);
    const std::string name = collation_name(column);
    const bool possible = names_.columns.size() == 1 && collation_named(name);
    if (collation_named(name) != collation) {
      refuse("the collation of column " + quoted_text(column),
             possible ? std::string(name_of(collation)) + ", which is that of the filter"
                      : "BINARY, NOCASE or RTRIM, and BINARY in a key of several columns",
             name);
    }
  }
}

Source::ColumnFacts Source::facts_of(const std::string& column) const {
  const Statement select(db_,
                         "SELECT hidden IN (2, 3), pk > 0 AND type = 'INTEGER' COLLATE NOCASE FROM "
                         "pragma_table_xinfo(?1, ?2) WHERE name = ?3 COLLATE NOCASE");
  Run run(select);
  if (!run.bind(1, names_.table).bind(2, schema_).bind(3, column).step()) {
    refuse("column", "one of " + names_.table, quoted_text(column));
  }
  return {.generated = run.integer(0) != 0, .rowid = run.integer(1) != 0};
}

// SQLite looks for the names of columns in what an UPDATE sets. A generated column is never there,
// and the rowid may be under another name.
std::string Source::update_clause() const {
  std::string list;
  for (const std::string& column : names_.columns) {
    const ColumnFacts facts = facts_of(column);
    if (facts.generated || facts.rowid) {
      return "UPDATE";
    }
    list.append(list.empty() ? "UPDATE OF " : ", ").append(quoted_name(column));
  }
  return list;
}

void Source::install(const std::string& table) const {
  const auto create = [&](std::string_view trigger, const std::string& event,
                          const std::string& body) {
    sqlite::execute(db_, "CREATE TRIGGER " + qualified(trigger_name(table, trigger)) + " AFTER " +
                             event + " BEGIN" + body + " END");
  };
  const std::string on = " ON " + quoted_name(names_.table);
  const std::string add = statement_of(table, kAdd, key_of("new"));
  const std::string remove = statement_of(table, kRemove, key_of("old"));
  std::string differs;
  for (const std::string& column : names_.columns) {
    const std::string name = quoted_name(column);
    differs.append(differs.empty() ? " WHEN " : " OR ");
    differs.append("old.").append(name).append(" IS NOT new.").append(name);
  }
  create(kTriggers[0], "INSERT" + on, add);
  create(kTriggers[1], update_clause() + on + differs, remove + add);
  create(kTriggers[2], "DELETE" + on, remove);
}

void Source::uninstall(const std::string& table) const {
  for (const std::string_view trigger : kTriggers) {
    sqlite::execute(db_, "DROP TRIGGER IF EXISTS " + qualified(trigger_name(table, trigger)));
  }
}

bool Source::find(const std::string& table) {
  names_ = stated_;
  const Statement select(db_, "SELECT tbl_name, sql FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'trigger' AND name = ?1 COLLATE NOCASE");
  SourceNames names;
  for (const std::string_view trigger : kTriggers) {
    const std::string name = trigger_name(table, trigger);
    Run run(select);
    if (!run.bind(1, name).step()) {
      return false;
    }
    const std::string_view source = run.value(0).text();
    if (!names.table.empty() && names.table != source) {
      return false;
    }
    names.table = source;
    names.columns = columns_of("old", run.value(1).text());
  }
  if (names.columns.size() != names_.columns.size()) {
    return false;
  }
  names_ = std::move(names);
  return true;
}

void Source::for_each_key(const std::function<void(const sqlite::Value&)>& f) const {
  const Statement select(db_,
                         "SELECT " + key_of("t") + " FROM " + qualified(names_.table) + " AS t");
  Run run(select);
  while (run.step()) {
    if (run.type(0) != SQLITE_NULL) {
      f(run.value(0));
    }
  }
}

}  // namespace bloom
