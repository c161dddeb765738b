// SQL statements that the extension itself runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/support/interrupt_check.h"
#include "sql/sqlite/api.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

// Runs SQL that returns no rows. Throws SqliteError.
void execute(sqlite3* db, const std::string& sql);

// Makes interrupt checks for long loops. A check throws SqliteError(SQLITE_INTERRUPT) after
// sqlite3_interrupt() was called, or when the progress handler requests an interrupt. Requires: a
// statement of the connection is running.
class Interrupts {
 public:
  explicit Interrupts(sqlite3* db) : db_(db) {}
  // Returns a check that is valid while this object lives and is not moved.
  InterruptCheck check() { return {check_now, this}; }

 private:
  using Clock = std::chrono::steady_clock;
  static void check_now(void* self);

  sqlite3* db_;
  Clock::time_point next_{};  // time of the next check: reading the clock is cheaper than checking
};

// A prepared statement. Use a Run to execute it.
class Statement {
 public:
  // Prepares a statement that uses ordinary tables only. Throws SqliteError, as its runs do.
  //
  // If the schema is not what the SQL expects, the error has the code `unexpected`. This code
  // replaces SQLITE_ERROR, and also SQLITE_CONSTRAINT, which SQLite would mistake for a conflict in
  // the user's row.
  Statement(sqlite3* db, const std::string& sql, int unexpected = SQLITE_ERROR);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

 private:
  friend class Run;
  void require(int code) const;

  sqlite3* db_;
  int unexpected_;
  sqlite3_stmt* statement_ = nullptr;
};

// One execution of a statement. The destructor resets the statement, so it does not keep a
// transaction open.
class Run {
 public:
  explicit Run(const Statement& statement) : origin_(statement), statement_(statement.statement_) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  // Bind a value and return *this. Throw SqliteError. Text and bytes are not copied: they must
  // outlive the run.
  Run& bind(int parameter, std::int64_t value);
  Run& bind(int parameter, std::string_view text);
  Run& bind(int parameter, std::span<const std::uint8_t> bytes);

  // Returns whether there is a row, or a further row. Throws SqliteError.
  bool step();

  // Values of the current row. They are valid until the next step().
  int type(int column) const { return sqlite3_column_type(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  Value value(int column) const { return Value(sqlite3_column_value(statement_, column)); }
  std::span<const std::uint8_t> blob(int column) const;  // throws std::bad_alloc
  OwnedValue copy(int column) const;                     // throws std::bad_alloc

 private:
  const Statement& origin_;
  sqlite3_stmt* statement_;
};

}  // namespace bloom::sqlite
