// An SQLite database in memory with the extension linked in, and with limits of time and memory.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tests/support/database.h"

namespace bloom::fuzz {

// Prepares SQLite before a connection opens, and fails if the connection does not return all of its
// memory.
class MemoryBalance {
 public:
  MemoryBalance();
  MemoryBalance(const MemoryBalance&) = delete;
  MemoryBalance& operator=(const MemoryBalance&) = delete;
  ~MemoryBalance();

 private:
  sqlite3_int64 used_before_ = 0;
};

// Requires: at most one object exists at a time.
class BoundedDatabase : private MemoryBalance, public test::Database {
 public:
  BoundedDatabase();

  // Runs a script that must succeed.
  void must_execute(const std::string& script);

  // image() returns the database as bytes. restore() replaces an empty database by an image.
  std::string image() const;
  void restore(std::string_view image);

  // From now on, statements are interrupted after `steps` steps of SQLite's virtual machine in all.
  void limit_steps(int steps);

 private:
  int ticks_ = 0;
};

// A prepared statement that is reused.
class Statement {
 public:
  Statement(const BoundedDatabase& database, const std::string& sql);

  // Whether SQLite could prepare the SQL.
  bool is_prepared() const { return statement_ != nullptr; }

  // Bytes must live until the next reset().
  Statement& bind(int parameter, std::span<const std::uint8_t> blob);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, const sqlite3_value* value);

  int step() { return sqlite3_step(statement_.get()); }
  int reset() { return sqlite3_reset(statement_.get()); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_.get(), column); }
  std::string_view text(int column);
  const sqlite3_value* value(int column) { return sqlite3_column_value(statement_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Returns whether a statement may fail with this code on some input. Codes about memory, disk or
// misuse of SQLite's interface are not expected.
bool is_expected_error(int code);

}  // namespace bloom::fuzz
