#include "sql/sqlite/interrupts.h"

#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// SQLite reports an interrupt only to running statements, so this runs a short one.
// (sqlite3_is_interrupted() requires SQLite 3.41.)
void Interrupts::check_now(void* self) {
  constexpr auto kEvery = std::chrono::milliseconds(20);
  auto& [db, next] = *static_cast<Interrupts*>(self);
  const auto now = Clock::now();
  if (now < next) {
    return;
  }
  next = now + kEvery;
  if (sqlite3_exec(db, "SELECT 1", nullptr, nullptr, nullptr) == SQLITE_INTERRUPT) {
    throw SqliteError(SQLITE_INTERRUPT, "interrupted");
  }
}

}  // namespace bloom::sqlite
