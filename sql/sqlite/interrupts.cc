#include "sql/sqlite/interrupts.h"

#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

void Interrupts::check_now(void* self) {
  constexpr auto kEvery = std::chrono::milliseconds(20);
  auto& [db, next] = *static_cast<Interrupts*>(self);
  const auto now = Clock::now();
  if (now < next) {
    return;
  }
  next = now + kEvery;
  if (sqlite3_exec(db, kProbe, nullptr, nullptr, nullptr) == SQLITE_INTERRUPT) {
    throw SqliteError(SQLITE_INTERRUPT, "interrupted");
  }
}

}  // namespace bloom::sqlite
