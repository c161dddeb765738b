// The table that a bloom table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
// This file reads the properties of the source from the schema and makes the guard index.
// sql/table/source_triggers.h makes the triggers.
//
// The guard is a partial index on the columns that contains no rows. It blocks two ways to change
// the columns without firing triggers: sqlite3_blob_write(), and ALTER TABLE ... DROP COLUMN under
// PRAGMA legacy_alter_table, which permits dropping a column that only triggers use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/collation.h"
#include "sql/sqlite/affinity.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"

namespace bloom {

using sqlite::Affinity;

// Which programs may write to the source. `any`: every program, because the triggers are plain SQL
// (sql/table/change_log.h). `extension`: programs that load the extension, because the triggers
// write to the bloom table.
enum class Writers { any, extension };

// The names as the options give them.
struct SourceNames {
  std::string table;
  std::vector<std::string> columns;  // several columns form a key as bloom_key() does
};

// Properties of the followed columns. The triggers of the source depend on them.
struct ColumnFacts {
  // An UPDATE may change a column without naming it in SET: the column is generated, or its
  // declaration looks like an alias of the rowid.
  bool can_change_unnamed = false;
  // For error messages: a column whose stored value may differ from the value that a BEFORE trigger
  // sees, and the reason, such as "'id' is an INTEGER PRIMARY KEY". Empty if there is no such
  // column. Columns in which SQLite only replaces NULL do not count: see `defaults`.
  std::string unknown_before_write;
  // For each column, the literal that SQLite may store in place of NULL; empty for none.
  std::vector<std::string> defaults;
};

class Source {
 public:
  Source(sqlite3* db, std::string schema, SourceNames names)
      : db_(db),
        schema_(std::move(schema)),
        names_from_options_(std::move(names)),
        names_(names_from_options_) {}

  sqlite3* db() const { return db_; }
  const std::string& schema() const { return schema_; }
  // The current names: those of the options, unless the table or a column was renamed.
  const SourceNames& names() const { return names_; }
  void set_names(SourceNames names) { names_ = std::move(names); }
  void take_names_from_options() { names_ = names_from_options_; }

  // Returns "schema"."name", quoted.
  std::string qualified(std::string_view name) const;
  // Returns the SQL expression of the key in `row`: "old", "new" or the name of a table.
  std::string key_of(std::string_view row) const;
  ColumnFacts facts() const;
  // Returns the name of the INTEGER PRIMARY KEY; empty if the table has none, or no rowids.
  std::string rowid_alias() const;

  // Returns the collation of the column. Returns binary if the filter does not support the
  // collation, or if it cannot be read.
  Collation collation() const;
  // Returns the affinity of the column. Returns blob for a key of several columns, and if the
  // affinity cannot be read.
  Affinity affinity() const;

  // Returns whether the database stores text in UTF-8.
  bool is_utf8() const;

  // Throws bloom::Error unless the source is an ordinary table, and its columns exist and have this
  // collation.
  void require_collation(Collation collation) const;
  // Throws bloom::Error unless a filter of this collation can follow the source while these
  // programs write to it.
  void require_can_follow(Collation collation, Writers writers) const;

  // The guard index: see the top. make_guard() creates the index and returns its name. The index
  // keeps its name when the table is renamed or rebuilt: SQLite cannot drop an index while other
  // statements run. has_guard() returns whether the index exists as make_guard() makes it.
  // drop_guard() does nothing if there is no such guard index.
  std::string make_guard(const std::string& table) const;
  bool has_guard(const std::string& name) const;
  void drop_guard(const std::string& name) const;

  // Return a number that changes whenever the schema changes. After a rollback SQLite uses the same
  // numbers again.
  std::int64_t schema_version();
  std::int64_t temp_schema_version();
  // Returns whether another statement of this connection may be changing the source.
  bool is_being_written() const { return sqlite::running_writers(db_) > 1; }
  // Returns whether the running statement writes to the bloom table `table` through a trigger.
  bool is_being_written_by_trigger(const std::string& table) const {
    return sqlite::writes_through_trigger(db_, table);
  }

  // Calls f(key) for each row whose key is not NULL. Throws SqliteError, and what `f` throws.
  void for_each_key(const std::function<void(const sqlite::Value&)>& f) const;

 private:
  struct ColumnInfo;

  // Returns what kind of object the source is, as text; null if it is an ordinary table.
  const char* unsupported_type() const;
  bool is_shadow() const;
  // Returns whether this column of PRAGMA table_list has this value for the source.
  bool table_list_has(int column, std::string_view value) const;
  std::string pragma(const char* name) const;
  std::string guard_sql(const std::string& name) const;
  bool has_object(const std::string& name) const;
  std::string collation_name(const std::string& column) const;
  bool is_strict() const;
  std::vector<ColumnInfo> columns() const;
  void require_values_known_before_write() const;

  sqlite3* db_;
  std::string schema_;
  SourceNames names_from_options_;
  SourceNames names_;
  std::optional<sqlite::Statement> select_version_;
  std::optional<sqlite::Statement> select_temp_version_;
};

}  // namespace bloom
