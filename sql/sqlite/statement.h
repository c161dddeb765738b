// SQL statements that the extension runs itself.
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

// Runs SQL that gives no rows. Throws SqliteError.
void execute(sqlite3* db, const std::string& sql);

// For long loops while a statement of the connection runs: their pauses throw
// SqliteError(SQLITE_INTERRUPT) once sqlite3_interrupt() was called or a progress handler says so.
class Interrupts {
 public:
  explicit Interrupts(sqlite3* db) : db_(db) {}
  // Good as long as this is where it is.
  InterruptCheck check() { return {look, this}; }

 private:
  using Clock = std::chrono::steady_clock;
  static void look(void* self);

  sqlite3* db_;
  Clock::time_point next_{};  // to look costs more than to know the time
};

// A prepared statement, to be run through a Run.
class Statement {
 public:
  // Of ordinary tables alone. Throws SqliteError, as its runs do: of the code `unexpected` where
  // the schema is not what the SQL expects. That covers constraints: SQLite would take theirs for
  // one of the user's row.
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

// One run of a statement, which is reset when the run ends: no transaction has to wait for it.
class Run {
 public:
  explicit Run(const Statement& statement) : origin_(statement), statement_(statement.statement_) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  // Bytes and text are not copied: they must live as long as the run.
  Run& bind(int parameter, std::int64_t value);
  Run& bind(int parameter, std::string_view text);
  Run& bind(int parameter, std::span<const std::uint8_t> bytes);

  // Whether there is a (next) row. Throws SqliteError.
  bool step();

  // Of the row, until the next step.
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
