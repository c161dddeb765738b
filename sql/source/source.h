// The table that a virtual table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
// Source reads its properties from the schema.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/collation.h"
#include "sql/source/stored_schema.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/values/affinity.h"

namespace bloom {

// Which programs may write to the source. `any`: every SQLite program, because the triggers are
// plain SQL (sql/source/change_log.h). `extension`: programs that load the extension, because the
// triggers write to the bloom table.
enum class Writers { any, extension };

// The names of a source and of the columns of its key.
struct SourceNames {
  std::string table;
  // Of a bloom table: several columns form a key as bloom_key() does. Of bloom_groups: the member
  // is first. Of bloom_search: all that are searched, each on its own.
  std::vector<std::string> columns;
  bool operator==(const SourceNames&) const = default;
};

// By what rules SQLite compares a column with other values.
struct ColumnRules {
  Affinity affinity = Affinity::blob;
  Collation collation = Collation::binary;
  bool operator==(const ColumnRules&) const = default;
};

// Properties of the followed columns. The triggers of the source depend on them.
struct ColumnFacts {
  // An UPDATE may change a column without naming it in SET: the column is generated, or its
  // declaration looks like an alias of the rowid.
  bool can_change_unnamed = false;
  // Why a stored value may differ from the value that a BEFORE trigger sees, for error messages:
  // "'id' is an INTEGER PRIMARY KEY". Empty if no column is like this. Columns in which SQLite
  // replaces NULL by a literal do not count: see `defaults`.
  std::string why_unknown_before_write;
  // For each column, the default that SQLite may store in place of NULL, as SQL; empty for none.
  std::vector<std::string> defaults;
};

class Source {
 public:
  Source(sqlite3* db, std::string schema, SourceNames names)
      : db_(db),
        schema_(std::move(schema)),
        names_from_options_(std::move(names)),
        names_(names_from_options_),
        reader_(db_, schema_) {}

  sqlite3* db() const { return db_; }
  const std::string& schema() const { return schema_; }
  // The current names: those of the options, unless the table or a column was renamed.
  const SourceNames& names() const { return names_; }
  void set_names(SourceNames names) { names_ = std::move(names); }
  const SourceNames& names_from_options() const { return names_from_options_; }

  // Returns "schema"."name", quoted.
  std::string qualified(std::string_view name) const;
  // Returns the SQL expression of the key in `row`: "old", "new" or the name of a table.
  std::string key_sql(std::string_view row) const;
  // Returns the SQL expressions of its columns, separated by commas.
  std::string columns_sql(std::string_view row) const;
  ColumnFacts facts() const;
  // Reads the objects of the schema.
  SchemaReader& reader() const { return reader_; }
  // Returns the name of the INTEGER PRIMARY KEY; empty if the table has none, or no rowids.
  std::string rowid_alias() const;

  // Returns blob and binary if the rules cannot be read, and binary if the filter does not support
  // the collation.
  ColumnRules rules_of(const std::string& column) const;
  // Return the collation of a followed column, or of all.
  Collation collation(std::size_t column = 0) const {
    return rules_of(names_.columns[column]).collation;
  }
  std::vector<Collation> collations() const;
  bool has_column(const std::string& name) const;
  bool is_composite() const { return names_.columns.size() > 1; }

  // Returns the first of the columns that the source does not have; nullopt if it has all, or is no
  // ordinary table.
  std::optional<std::string> missing_column() const;
  // Throws bloom::Error unless the source is an ordinary table.
  void require_ordinary_table() const;
  // Throws bloom::Error unless the source is an ordinary table, and its columns exist. A single
  // column must have this collation, and several columns must have supported ones.
  void require_collation(Collation collation) const;
  // Throws bloom::Error unless a filter of this collation can follow the source while these
  // programs write to it.
  void require_can_follow(Collation collation, Writers writers) const;

  // Throws bloom::Error if a running statement of this connection may write to the source: a scan
  // would miss the row that the statement is about to write. `is_only_writer`: the command is the
  // only running statement that may write. Its program then shows whether it writes to the source
  // through triggers. Other statements always count: their program may be out of date, because an
  // SQL function that they call may have changed the schema.
  void require_not_being_written(bool is_only_writer) const;
  bool may_be_being_written() const {
    return sqlite::may_be_writing_to(db_, schema_, names_.table);
  }
  // As above, for CREATE: throws if any other statement is writing, because the program of a CREATE
  // that is running cannot be read. A CREATE cannot run in a trigger.
  void require_no_other_writer() const;

  // Calls f(row) for each row; the values are those of the columns. Throws SqliteError, and what
  // `f` throws.
  void for_each_row(const std::function<void(const sqlite::Execution&)>& f) const;

 private:
  struct ColumnInfo;

  // Returns what kind of object the source is, as text; null if it is a table that is not virtual.
  const char* kind_if_no_table() const;
  bool is_shadow() const;
  // Returns whether this column of PRAGMA table_list has this value for the source.
  bool table_list_has(int column, std::string_view value) const;
  std::string pragma(const char* name) const;
  std::string collation_name(const std::string& column) const;
  bool is_strict() const;
  std::vector<ColumnInfo> columns() const;
  ColumnFacts read_facts() const;
  void require_values_known_before_write() const;

  sqlite3* db_;
  std::string schema_;
  SourceNames names_from_options_;
  SourceNames names_;
  mutable SchemaReader reader_;
  // The last result of facts().
  struct KnownFacts {
    SchemaReader::State state;
    SourceNames names;
    ColumnFacts facts;
  };
  mutable std::optional<KnownFacts> known_facts_;
};

// The first column of an index, and the collation of the index.
struct IndexedColumn {
  std::string column;
  std::string collation;
  bool is(const std::string& other_column, const std::string& other_collation) const {
    return sqlite3_stricmp(column.c_str(), other_column.c_str()) == 0 &&
           sqlite3_stricmp(collation.c_str(), other_collation.c_str()) == 0;
  }
};

// Returns those of the indexes of the source that have all rows, and begin with a column.
std::vector<IndexedColumn> indexed_columns(const Source& source);

}  // namespace bloom
