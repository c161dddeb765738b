#include "sql/source/source.h"

#include <algorithm>
#include <optional>

#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Statement;

// Returns whether the text is an integer that every number type stores exactly: a larger one may
// become another REAL.
bool is_short_integer_literal(std::string_view sql) {
  constexpr std::size_t kExactDigits = 15;
  sql.remove_prefix(sql.starts_with('-') ? 1 : 0);
  return !sql.empty() && sql.size() <= kExactDigits &&
         std::all_of(sql.begin(), sql.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_string_literal(std::string_view sql) {
  return sql.starts_with('\'') && sqlite::unquoted(sql).has_value();
}

[[noreturn]] void refuse_to_read(const std::string& source) {
  fail("cannot read " + quoted_text(source) +
       " while a statement of this connection writes to it: the row in progress would be missed "
       "(run the command on its own, outside of triggers, when that statement has finished)");
}

}  // namespace

// A row of PRAGMA table_xinfo.
struct Source::ColumnInfo {
  std::string name;
  std::string type;
  std::optional<std::string> default_sql;
  bool not_null;
  bool in_primary_key;
  bool is_generated;

  // Returns whether SQLite may store the default in place of NULL (ON CONFLICT REPLACE).
  bool replaces_null() const { return not_null && default_sql; }
  // Returns whether the default is a literal that the column stores unchanged, by its affinity
  // (https://sqlite.org/datatype3.html, section 3.1).
  bool stores_default_unchanged(Affinity affinity) const {
    return (is_string_literal(*default_sql) && !is_numeric(affinity)) ||
           (is_short_integer_literal(*default_sql) && affinity != Affinity::text);
  }
};

std::string Source::qualified(std::string_view name) const {
  return quoted_name(schema_) + "." + quoted_name(name);
}

std::string Source::columns_sql(std::string_view row) const {
  std::string list;
  for (const std::string& column : names_.columns) {
    list.append(list.empty() ? "" : ", ").append(row).append(".").append(quoted_name(column));
  }
  return list;
}

std::string Source::key_sql(std::string_view row) const {
  return is_composite() ? "bloom_key(" + columns_sql(row) + ")" : columns_sql(row);
}

std::string Source::collation_name(const std::string& column) const {
  const char* name = nullptr;
  sqlite3_table_column_metadata(db_, schema_.c_str(), names_.table.c_str(), column.c_str(), nullptr,
                                &name, nullptr, nullptr, nullptr);
  return name == nullptr ? "" : name;
}

std::vector<Collation> Source::collations() const {
  std::vector<Collation> collations;
  for (std::size_t i = 0; i < names_.columns.size(); ++i) {
    collations.push_back(collation(i));
  }
  return collations;
}

bool Source::has_column(const std::string& name) const {
  return kind_if_no_table() == nullptr &&
         sqlite3_table_column_metadata(db_, schema_.c_str(), names_.table.c_str(), name.c_str(),
                                       nullptr, nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
}

// Virtual tables are skipped first: in SQLite 3.54 column metadata must not be read for a virtual
// table that is not yet connected.
ColumnRules Source::rules_of(const std::string& column) const {
  if (kind_if_no_table() != nullptr) {
    return {};
  }
  const char* type = nullptr;
  const char* collation = nullptr;
  sqlite3_table_column_metadata(db_, schema_.c_str(), names_.table.c_str(), column.c_str(), &type,
                                &collation, nullptr, nullptr, nullptr);
  // ANY converts nothing in a STRICT table.
  const bool is_any = sqlite3_stricmp(type, "ANY") == 0;
  return {is_any && is_strict() ? Affinity::blob : affinity_of(type),
          collation_named(collation == nullptr ? "" : collation).value_or(Collation::binary)};
}

const char* Source::kind_if_no_table() const {
  const StoredSchema& objects = reader_.current("", names_.table);
  if (const StoredObject* const table = objects.find("table", names_.table)) {
    return table->has_b_tree ? nullptr : "a virtual table";
  }
  return objects.find("view", names_.table) == nullptr ? "no table of this name" : "a view";
}

// Before 3.37 SQLite has no PRAGMA table_list, so shadow tables are not detected. It has no STRICT
// tables either. The pragma connects every virtual table of the connection, so it is no part of
// what each connection reads.
bool Source::is_shadow() const {
  constexpr int kType = 2;
  return table_list_has(kType, "shadow");
}

bool Source::is_strict() const {
  constexpr int kStrict = 5;
  return table_list_has(kStrict, "1");
}

bool Source::table_list_has(int column, std::string_view value) const {
  constexpr int kTells = 3037000;
  if (sqlite3_libversion_number() < kTells) {
    return false;
  }
  const Statement list(db_, pragma("table_list"));
  Execution run(list);
  return run.step() && run.value(column).text() == value;
}

// The table-valued form of a pragma also loads the other schemas. If one of those has changed,
// SQLite discards the table objects of this schema as well.
std::string Source::pragma(const char* name) const {
  return "PRAGMA " + qualified(name) + "(" + quoted_name(names_.table) + ")";
}

void Source::require_can_follow(Collation collation, Writers writers) const {
  require_collation(collation);
  if (writers == Writers::any) {
    require_values_known_before_write();
  }
}

void Source::require_ordinary_table() const {
  const char* other = kind_if_no_table();
  if (other == nullptr && is_shadow()) {
    other = "a table that belongs to a virtual one";
  }
  if (other != nullptr) {
    if (const std::size_t dot = names_.table.find('.'); dot != std::string::npos) {
      fail("source must be the name of a table without its schema, got " +
           quoted_text(names_.table) + " (write source=" + names_.table.substr(dot + 1) +
           "; the source is in the schema of the virtual table, here " + schema_ + ")");
    }
    refuse("source " + quoted_text(names_.table), "an ordinary table",
           std::string(other) + " in the schema " + schema_);
  }
}

void Source::require_collation(Collation collation) const {
  require_ordinary_table();
  if (is_composite() && collation != Collation::binary) {
    fail("option collate is for a key of one column (several columns keep their own collations)");
  }
  if (const auto column = missing_column()) {
    const bool is_list = column->find(',') != std::string::npos;
    refuse("column", "one of " + names_.table,
           quoted_text(*column) + (is_list ? " (several columns are written column=(a, b))" : ""));
  }
  for (const std::string& column : names_.columns) {
    const std::string name = collation_name(column);
    const auto known_collation = collation_named(name);
    if (!known_collation || (!is_composite() && known_collation != collation)) {
      refuse("the collation of column " + quoted_text(column),
             known_collation ? std::string(name_of(collation)) + ", which is that of the filter"
                             : "BINARY, NOCASE or RTRIM",
             name);
    }
  }
}

std::optional<std::string> Source::missing_column() const {
  if (kind_if_no_table() != nullptr) {
    return std::nullopt;
  }
  const std::vector<ColumnInfo> known = columns();
  for (const std::string& column : names_.columns) {
    if (std::none_of(known.begin(), known.end(), [&](const ColumnInfo& info) {
          return sqlite3_stricmp(info.name.c_str(), column.c_str()) == 0;
        })) {
      return column;
    }
  }
  return std::nullopt;
}

void Source::require_no_other_writer() const {
  if (sqlite::running_writers(db_) > 1) {
    refuse_to_read(names_.table);
  }
}

void Source::require_not_being_written(bool is_only_writer) const {
  if (!is_only_writer || may_be_being_written()) {
    refuse_to_read(names_.table);
  }
}

void Source::require_values_known_before_write() const {
  if (const std::string late = facts().why_unknown_before_write; !late.empty()) {
    fail("cannot follow " + quoted_text(names_.table) + " with writers=any: " + late +
         ", so BEFORE triggers do not see the final value (give writers=extension, and load the "
         "extension in every program that writes to " +
         quoted_text(names_.table) + ")");
  }
}

std::vector<Source::ColumnInfo> Source::columns() const {
  enum { kName = 1, kType = 2, kNotNull = 3, kDefault = 4, kKey = 5, kHidden = 6 };
  const Statement info(db_, pragma("table_xinfo"));
  Execution run(info);
  std::vector<ColumnInfo> columns;
  while (run.step()) {
    columns.push_back({.name = std::string(run.value(kName).text()),
                       .type = std::string(run.value(kType).text()),
                       .default_sql = run.type(kDefault) == SQLITE_NULL
                                          ? std::nullopt
                                          : std::optional(std::string(run.value(kDefault).text())),
                       .not_null = run.integer(kNotNull) != 0,
                       .in_primary_key = run.integer(kKey) != 0,
                       .is_generated = run.integer(kHidden) != 0});
  }
  return columns;
}

ColumnFacts Source::facts() const {
  const SchemaReader::State now = reader_.state();
  if (!known_facts_ || known_facts_->state != now || known_facts_->names != names_) {
    known_facts_ = {now, names_, read_facts()};
  }
  return known_facts_->facts;
}

ColumnFacts Source::read_facts() const {
  const std::vector<ColumnInfo> known = columns();
  const auto in_key = std::count_if(known.begin(), known.end(),
                                    [](const ColumnInfo& info) { return info.in_primary_key; });
  ColumnFacts facts;
  for (const std::string& column : names_.columns) {
    facts.defaults.emplace_back();
    for (const ColumnInfo& info : known) {
      if (sqlite3_stricmp(info.name.c_str(), column.c_str()) != 0) {
        continue;
      }
      const bool is_integer_key =
          info.in_primary_key && sqlite3_stricmp(info.type.c_str(), "INTEGER") == 0;
      const bool may_be_rowid = is_integer_key && in_key == 1;
      facts.can_change_unnamed = facts.can_change_unnamed || info.is_generated || is_integer_key;
      const bool replaces_null = info.replaces_null();
      if (replaces_null) {
        facts.defaults.back() = *info.default_sql;
      }
      if (info.is_generated) {
        facts.why_unknown_before_write = quoted_text(column) + " is a generated column";
      } else if (may_be_rowid) {
        facts.why_unknown_before_write = quoted_text(column) + " is an INTEGER PRIMARY KEY";
      } else if (replaces_null && !info.stores_default_unchanged(rules_of(info.name).affinity)) {
        facts.why_unknown_before_write =
            quoted_text(column) + " is NOT NULL with a default that SQLite computes or converts";
      }
    }
  }
  return facts;
}

// In a table WITHOUT ROWID the column is an ordinary one. PRAGMA index_list then lists the index of
// the primary key, which no other table has for an INTEGER PRIMARY KEY.
std::string Source::rowid_alias() const {
  enum { kOrigin = 3 };
  const std::vector<ColumnInfo> known = columns();
  const auto is_key = [](const ColumnInfo& info) { return info.in_primary_key; };
  const auto key = std::find_if(known.begin(), known.end(), is_key);
  if (std::count_if(known.begin(), known.end(), is_key) != 1 ||
      sqlite3_stricmp(key->type.c_str(), "INTEGER") != 0) {
    return "";
  }
  const Statement list(db_, pragma("index_list"));
  Execution run(list);
  while (run.step()) {
    if (run.value(kOrigin).text() == "pk") {
      return "";
    }
  }
  return key->name;
}

void Source::for_each_row(const std::function<void(const Execution&)>& f) const {
  const Statement select(
      db_, "SELECT " + columns_sql("t") + " FROM " + qualified(names_.table) + " AS t");
  Execution run(select);
  while (run.step()) {
    f(run);
  }
}

std::vector<IndexedColumn> indexed_columns(const Source& source) {
  enum { kName = 1, kPartial = 4, kColumn = 2, kCollation = 4 };
  std::vector<IndexedColumn> indexed;
  const auto pragma = [&](const char* name, std::string_view of) {
    return "PRAGMA " + source.qualified(name) + "(" + quoted_name(of) + ")";
  };
  const Statement list(source.db(), pragma("index_list", source.names().table));
  Execution run(list);
  while (run.step()) {
    const Statement info(source.db(), pragma("index_xinfo", run.value(kName).text()));
    Execution first(info);
    if (run.integer(kPartial) == 0 && first.step() && first.type(kColumn) == SQLITE_TEXT) {
      indexed.push_back(
          {std::string(first.value(kColumn).text()), std::string(first.value(kCollation).text())});
    }
  }
  return indexed;
}

}  // namespace bloom
