// The shadow tables of a virtual table: their names, and SQL on them.
//
// In the SQL, {config} stands for the qualified name of the shadow table <name>_config, and so on:
//   Execution(tables.prepared("DELETE FROM {data} WHERE id = ?1")).bind(1, id).step();
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sql/sqlite/statement.h"

namespace bloom {

// A shadow table as it is created.
struct ShadowTable {
  std::string_view suffix;      // "config" and so on
  std::string_view definition;  // what follows the name in CREATE TABLE
  const char* first_column;
  const char* last_column;
  // kMayBeMissing: tables of earlier versions do not have this one.
  enum Presence { kAlways, kMayBeMissing } presence = kAlways;
};

// Throws bloom::Error if the schema has such an object of this name. A rename calls this for all
// names that it needs before it changes anything. If a statement fails after it has changed the
// schema, SQLite undoes that in the file, but not in its own copy of the schema.
void require_name_is_free(sqlite3* db, const std::string& schema, const std::string& name,
                          sqlite::Named what = sqlite::Named::table_view_or_index);

class ShadowTables {
 public:
  // Requires: `all` lives as long as this object.
  ShadowTables(sqlite3* db, std::string schema, std::string table, std::span<const ShadowTable> all)
      : db_(db), schema_(std::move(schema)), table_(std::move(table)), all_(all) {}
  ShadowTables(const ShadowTables&) = delete;
  ShadowTables& operator=(const ShadowTables&) = delete;

  // Returns whether <name>_<suffix> is the name of a shadow table.
  static bool contains(std::span<const ShadowTable> all, std::string_view suffix);

  sqlite3* db() const { return db_; }
  const std::string& schema() const { return schema_; }
  const std::string& table() const { return table_; }
  // Returns whether the virtual table has this name.
  bool has_name(const std::string& schema, const std::string& table) const {
    return sqlite3_stricmp(schema_.c_str(), schema.c_str()) == 0 &&
           sqlite3_stricmp(table_.c_str(), table.c_str()) == 0;
  }
  // Returns the name of a shadow table, without the schema.
  std::string name(std::string_view suffix) const;
  // Returns "schema"."name" of a shadow table, quoted.
  std::string qualified(std::string_view suffix) const;

  // A running statement keeps its object of the virtual table, even if the name of the table comes
  // to mean another table meanwhile. Renames through newer objects can do that, and so can a
  // rollback, which SQLite does not report to an object outside the transaction. Call
  // note_connected() when the virtual table was connected or created, and watch_name() when it was
  // renamed, or when another object has its name.
  void note_connected();
  void watch_name();
  // Throws SqliteError(SQLITE_ABORT) if the name has come to mean another table, or none.
  void require_same_table() {
    if (row_in_schema_) {
      check_same_table();
    }
  }

  // Returns the rowid of the row in sqlite_schema of the first shadow table; 0 if there is none. A
  // rename keeps it.
  std::int64_t row_in_schema() const;
  // Returns whether the table of this row still has the name that this object knows.
  bool name_still_means(std::int64_t schema_rowid);

  // The functions below throw SqliteError if a statement fails. Except in create(), drop() and
  // rename(), the code is SQLITE_CORRUPT_VTAB if shadow tables other than kMayBeMissing are missing
  // or changed. A view in place of a table is refused when a statement is prepared: it could return
  // rows without end.

  // Returns a statement that is prepared once, and is found again by the address of `sql`.
  // Requires: `sql` is a string literal. At most one Execution of the statement runs at a time.
  const sqlite::Statement& prepared(const char* sql);
  sqlite::Statement statement(std::string_view sql) const;
  // Runs SQL without parameters that returns no rows.
  void run(std::string_view sql) const;

  void create() const;
  void create(const ShadowTable& table) const;
  // Returns whether there is a table with these columns.
  bool exists(const ShadowTable& table) const;
  // Returns a text of the table <name>_config(k, v), even if its other rows are damaged; "" if
  // there is no such table or value.
  std::string text_in_config(std::string_view key) const;
  // Requires: there is such a table.
  void set_text_in_config(std::string_view key, std::string_view text) const;
  // A shadow table that is missing is an error for rename(), unless it may be missing. drop() skips
  // all that are missing.
  void drop();
  // Requires: require_names_are_free(table) has passed.
  void rename(const std::string& table);
  void require_names_are_free(const std::string& table) const;

  // Runs body() as sqlite::atomically() does. Requires: there is a table <name>_config(k, v).
  void atomically(const std::function<void()>& body) const;

 private:
  struct Prepared {
    Prepared(const char* literal, const ShadowTables& tables)
        : sql(literal), statement(tables.statement(literal)) {}

    const char* sql;
    sqlite::Statement statement;
  };

  std::string with_names(std::string_view sql) const;
  std::string find_damage() const;
  void remember_row();
  void check_same_table();

  sqlite3* db_;
  std::string schema_;
  std::string table_;
  std::span<const ShadowTable> all_;
  std::list<Prepared> prepared_;
  std::optional<std::int64_t> row_in_schema_;  // see row_in_schema()
  std::optional<sqlite::Statement> select_name_;
  bool watches_name_ = false;  // false: row_in_schema_ is kept only until the transaction ends
};

// Reads bytes of existing rows of one shadow table. Takes half the time of a statement per row.
// Requires: its lifetime ends within the callback of SQLite that created it, because an open blob
// handle keeps the transaction from committing.
class RowReader {
 public:
  RowReader(const ShadowTables& tables, std::string_view suffix, const char* column)
      : RowReader(tables, suffix, column, false) {}
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  ~RowReader() { sqlite3_blob_close(blob_); }

  // Goes to the row with this id, and returns the size of its blob in bytes. Throws as ShadowTables
  // does if there is no such row.
  std::size_t open(std::int64_t id);
  // Reads the blob of that row from byte `offset` on. Requires: the bytes are within the blob.
  void read(std::size_t offset, std::span<std::uint8_t> bytes);

 protected:
  RowReader(const ShadowTables& tables, std::string_view suffix, const char* column, bool writable)
      : tables_(tables), name_(tables.name(suffix)), column_(column), writable_(writable) {}

  void require_ok(int code) const;
  sqlite3_blob* blob() const { return blob_; }

 private:
  const ShadowTables& tables_;
  std::string name_;
  const char* column_;
  bool writable_;
  sqlite3_blob* blob_ = nullptr;
};

// Also overwrites bytes of these rows. It writes through sqlite3_blob_write(), which leaves
// changes() alone. Rows are written at the end of a statement, and an UPDATE there would count as
// the work of the user's statement.
class RowWriter : public RowReader {
 public:
  RowWriter(const ShadowTables& tables, std::string_view suffix, const char* column)
      : RowReader(tables, suffix, column, true) {}

  // Writes to the blob of the row from byte `offset` on. Requires: the bytes are within the blob.
  void write(std::size_t offset, std::span<const std::uint8_t> bytes);
};

}  // namespace bloom
