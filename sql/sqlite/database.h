// One database of a connection, main or attached: what a cache of its rows must know.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sql/sqlite/api.h"
#include "sql/sqlite/connection.h"

namespace bloom::sqlite {

class Database {
 public:
  Database(sqlite3* db, std::string schema)
      : db_(db), schema_(std::move(schema)), is_main_(schema_ == "main") {}

  // Returns a number that changes with every commit to the database file, by any connection.
  // Returns nullopt if the connection no longer has a schema of this name.
  std::optional<unsigned> data_version() const {
    unsigned version = 0;
    const int code =
        sqlite3_file_control(db_, schema_or_null(), SQLITE_FCNTL_DATA_VERSION, &version);
    return code == SQLITE_OK ? std::optional(version) : std::nullopt;
  }
  // Returns whether all rows may have changed while the data version has not.
  bool may_have_been_replaced() const { return deserialize_can_replace(db_, schema_or_null()); }
  bool has_write_transaction() const { return sqlite::has_write_transaction(db_, schema_.c_str()); }

  // Of the whole connection: see sql/sqlite/connection.h.
  bool in_autocommit() const { return sqlite3_get_autocommit(db_) != 0; }
  int running_writers() const { return sqlite::running_writers(db_); }
  bool statement_runs_to_its_end() const {
    int statements = 0;
    return sqlite::statement_runs_to_its_end(db_, statements);
  }
  int total_changes() const { return sqlite3_total_changes(db_); }
  int changes() const { return sqlite3_changes(db_); }
  bool roll_back() { return sqlite::roll_back(db_); }
  bool shares_cache() const { return sqlite::shares_cache(db_); }
  ReadUncommitted& read_uncommitted() { return read_uncommitted_; }
  const ReadUncommitted& read_uncommitted() const { return read_uncommitted_; }
  bool sees_uncommitted() { return read_uncommitted_.sees_uncommitted(db_); }

 private:
  // A null name also means "main", and saves SQLite the search for the schema.
  const char* schema_or_null() const { return is_main_ ? nullptr : schema_.c_str(); }

  sqlite3* db_;
  std::string schema_;
  bool is_main_;
  ReadUncommitted read_uncommitted_;
};

}  // namespace bloom::sqlite
