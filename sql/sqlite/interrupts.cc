#include "sql/sqlite/interrupts.h"

#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// SQLite reports an interrupt only to running statements, so this runs one. It has about 1,000
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
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60) SELECT i FROM n";
  if (sqlite3_exec(db, kShort, nullptr, nullptr, nullptr) == SQLITE_INTERRUPT) {
    throw SqliteError(SQLITE_INTERRUPT, "interrupted");
  }
}

}  // namespace bloom::sqlite
