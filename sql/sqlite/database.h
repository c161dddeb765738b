// One database of a connection, main or attached: what a cache of its rows must know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sql/sqlite/api.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"

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
  // Returns a number that changes with every commit by another connection, and not with those of
  // this one. Takes ten times as long as data_version(). Returns nullopt if it cannot be
  // read, for example because an authorizer denies it.
  std::optional<std::int64_t> foreign_version() {
    std::optional<std::int64_t> version;
    const auto outcome = Outcome::of([&] {
      if (!select_version_) {
        select_version_.emplace(db_, "PRAGMA " + quoted_name(schema_) + ".data_version");
      }
      Execution run(*select_version_);
      if (run.step()) {
        version = run.integer(0);
      }
    });
    if (outcome.code() == SQLITE_NOMEM || outcome.code() == SQLITE_INTERRUPT) {
      outcome.throw_failure();
    }
    return version;
  }
  // For a cache of rows: as long as this returns the same number, no row has changed. Returns
  // nullopt if rows may change while the number stays the same: the connection has a write
  // transaction, whose rollback is not reported, sees uncommitted rows of others, or the database
  // may have been replaced. Also returns nullopt if there is no such schema. Requires:
  // whenever a statement was prepared, the caller has called statement_was_prepared() of
  // read_uncommitted().
  std::optional<unsigned> version_of_settled_rows() {
    const bool is_settled =
        !has_write_transaction() && !may_have_been_replaced() && !sees_uncommitted();
    return is_settled ? data_version() : std::nullopt;
  }
  // Returns whether all rows may have changed while the data version has not.
  bool may_have_been_replaced() const { return deserialize_can_replace(db_, schema_or_null()); }
  bool has_write_transaction() const { return sqlite::has_write_transaction(db_, schema_.c_str()); }

  // Of the whole connection: see sql/sqlite/connection.h.
  bool in_autocommit() const { return sqlite3_get_autocommit(db_) != 0; }
  int running_writers() const { return sqlite::running_writers(db_); }
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
  std::optional<Statement> select_version_;
  ReadUncommitted read_uncommitted_;
};

}  // namespace bloom::sqlite
