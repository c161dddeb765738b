// Interrupt checks for long loops in core/.
#pragma once

#include <chrono>

#include "core/support/interrupt_check.h"
#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// Makes interrupt checks. A check throws SqliteError(SQLITE_INTERRUPT) after sqlite3_interrupt()
// was called, or when the progress handler requests an interrupt. Requires: a statement of the
// connection is running.
class Interrupts {
 public:
  // A statement that runs only to be interrupted, because SQLite reports an interrupt only to
  // running statements. It takes about 10 us and executes more than 1,000 instructions, after which
  // most progress handlers are called. (sqlite3_is_interrupted() requires SQLite 3.41.)
  static constexpr const char* kProbe =
      "WITH v(i) AS (VALUES (1), (2), (3), (4), (5))"
      " SELECT count(*) FROM v AS a, v AS b, v AS c, v AS d";

  explicit Interrupts(sqlite3* db) : db_(db) {}
  // Returns a check that is valid while this object lives and is not moved.
  InterruptCheck check() { return {check_now, this}; }

 private:
  using Clock = std::chrono::steady_clock;
  static void check_now(void* self);

  sqlite3* db_;
  Clock::time_point next_{};  // time of the next check: reading the clock is cheaper than checking
};

}  // namespace bloom::sqlite
