#include "sql/sqlite/connection.h"

namespace bloom::sqlite {
namespace {

struct Writers {
  int running = 0;
  bool give_rows = false;
};

Writers writers_of(sqlite3* db) {
  Writers writers;
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    if (sqlite3_stmt_busy(statement) != 0 && sqlite3_stmt_readonly(statement) == 0) {
      ++writers.running;
      writers.give_rows = writers.give_rows || sqlite3_column_count(statement) != 0;
    }
  }
  return writers;
}

}  // namespace

bool is_writing(sqlite3* db, const char* schema) {
#if SQLITE_VERSION_NUMBER >= 3034000
  constexpr int kFirstThatTells = 3034000;
  if (sqlite3_libversion_number() >= kFirstThatTells) {
    const int state = sqlite3_txn_state(db, schema);
    return state != SQLITE_TXN_NONE && state != SQLITE_TXN_READ;
  }
#endif
  // Older versions do not tell: a transaction that only reads counts as well.
  static_cast<void>(schema);
  return sqlite3_get_autocommit(db) == 0 || running_writers(db) != 0;
}

int running_writers(sqlite3* db) { return writers_of(db).running; }

bool runs_to_its_end(sqlite3* db) {
  const Writers writers = writers_of(db);
  return writers.running == 1 && !writers.give_rows;
}

// In autocommit mode ROLLBACK is refused, and a statement that fails is not undone while another
// one is writing. BEGIN makes a transaction of it that ROLLBACK takes.
bool roll_back(sqlite3* db) {
  if (sqlite3_get_autocommit(db) != 0) {
    sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr);
  }
  return sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace bloom::sqlite
