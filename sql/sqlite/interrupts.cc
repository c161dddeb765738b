#include "sql/sqlite/interrupts.h"

#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// SQLite reports an interrupt only to running statements, so this runs one. It has more than 1,000
// instructions, and takes less than 0.1 ms: the progress handlers of most programs are called after
// as many. (sqlite3_is_interrupted() requires SQLite 3.41.)
void Interrupts::check_now(void* self) {
  constexpr auto kEvery = std::chrono::milliseconds(20);
  auto& [db, next] = *static_cast<Interrupts*>(self);
  const auto now = Clock::now();
  if (now < next) {
    return;
  }
  next = now + kEvery;
  constexpr auto kShort =
      "WITH v(i) AS (VALUES (1), (2), (3), (4), (5))"
      " SELECT count(*) FROM v AS a, v AS b, v AS c, v AS d";
  if (sqlite3_exec(db, kShort, nullptr, nullptr, nullptr) == SQLITE_INTERRUPT) {
    throw SqliteError(SQLITE_INTERRUPT, "interrupted");
  }
}

}  // namespace bloom::sqlite
