#include "sql/sqlite/connection.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"

namespace bloom::sqlite {
namespace {

struct RunningWriters {
  int statements = 0;  // all prepared statements
  int running = 0;
  bool return_rows = false;
  sqlite3_stmt* last = nullptr;
};

RunningWriters writers_of(sqlite3* db) {
  RunningWriters writers;
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    ++writers.statements;
    if (sqlite3_stmt_busy(statement) != 0 && sqlite3_stmt_readonly(statement) == 0) {
      ++writers.running;
      writers.last = statement;
      writers.return_rows = writers.return_rows || sqlite3_column_count(statement) != 0;
    }
  }
  return writers;
}

// Reads a setting of the connection by read(). Returns nullopt if an authorizer denies that.
template <typename Read>
auto permitted(Read&& read) -> std::optional<decltype(read())> {
  std::optional<decltype(read())> setting;
  const auto outcome = Outcome::of([&] { setting = read(); });
  if (outcome.code() != SQLITE_AUTH) {
    outcome.throw_failure();
  }
  return setting;
}

bool is_on(sqlite3* db, const char* pragma) {
  const Statement select(db, pragma);
  Execution run(select);
  return run.step() && run.integer(0) != 0;
}

}  // namespace

Encoding encoding_of(sqlite3* db) {
  const Statement encoding(db, "PRAGMA encoding");
  Execution run(encoding);
  const std::string_view name = run.step() ? run.value(0).text() : "";
  return name == "UTF-16le"   ? Encoding::utf16_little
         : name == "UTF-16be" ? Encoding::utf16_big
                              : Encoding::utf8;
}

bool is_query_only(sqlite3* db) {
  return permitted([&] { return is_on(db, "PRAGMA query_only"); }).value_or(false);
}

bool CachedEncoding::find_out() {
  is_utf8_ = permitted([&] { return encoding_of(db_) == Encoding::utf8; });
  return is_utf8_.value_or(false);
}

bool has_write_transaction(sqlite3* db, const char* schema) {
#if SQLITE_VERSION_NUMBER >= 3034000
  constexpr int kFirstWithTxnState = 3034000;
  if (sqlite3_libversion_number() >= kFirstWithTxnState) {
    // Finding a schema by its name takes half of the time, so this first checks all schemas at
    // once.
    if (sqlite3_txn_state(db, nullptr) < SQLITE_TXN_WRITE) {
      return false;
    }
    const int state = sqlite3_txn_state(db, schema);
    return state != SQLITE_TXN_NONE && state != SQLITE_TXN_READ;
  }
#endif
  // Older versions have no sqlite3_txn_state(): there a transaction that only reads counts as well.
  static_cast<void>(schema);
  return sqlite3_get_autocommit(db) == 0 || running_writers(db) != 0;
}

int running_writers(sqlite3* db) { return writers_of(db).running; }

bool statement_runs_to_its_end(sqlite3* db, int& statements) {
  const RunningWriters writers = writers_of(db);
  statements = writers.statements;
  return writers.running == 1 && !writers.return_rows;
}

void require_readable(sqlite3* db, const std::string& schema, const std::string& table,
                      const std::string& columns) {
  if (!authorizer_hides_column(db, "SELECT " + columns + " FROM " + quoted_name(schema) + "." +
                                       quoted_name(table) + " AS t")) {
    return;
  }
  int is_on = 0;
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRIGGER_EQP, -1, &is_on);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRIGGER_EQP, 1 - is_on, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRIGGER_EQP, is_on, nullptr);
  throw SqliteError(SQLITE_AUTH, "an authorizer hides columns of the table " + quoted_text(table) +
                                     " (it must not answer SQLITE_IGNORE for them)");
}

// A virtual table has no b-tree of its own.
std::string virtual_table_sql(sqlite3* db, const std::string& schema, const std::string& table) {
  const Statement select(db, "SELECT sql FROM " + quoted_name(schema) +
                                 ".sqlite_master WHERE type = 'table' AND rootpage = 0"
                                 " AND name = ?1 COLLATE NOCASE");
  Execution run(select);
  return run.bind(1, table).step() ? std::string(run.value(0).text()) : "";
}

// If the name has only these characters, SQL can spell it in one way only, apart from case. So a
// statement whose text does not contain the name changes the table through a trigger.
bool writes_through_trigger(sqlite3* db, std::string_view table) {
  const auto fold = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const auto is_plain = [&](char c) {
    return (fold(c) >= 'a' && fold(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const RunningWriters writers = writers_of(db);
  const char* const sql = writers.running == 1 ? sqlite3_sql(writers.last) : nullptr;
  if (sql == nullptr || !std::all_of(table.begin(), table.end(), is_plain)) {
    return false;
  }
  const std::string_view text(sql);
  return std::search(text.begin(), text.end(), table.begin(), table.end(),
                     [&](char a, char b) { return fold(a) == fold(b); }) == text.end();
}

// In autocommit mode SQLite refuses ROLLBACK, and does not undo a failed statement while another
// one is writing. BEGIN turns the implicit transaction into one that ROLLBACK can end.
bool roll_back(sqlite3* db) {
  if (sqlite3_get_autocommit(db) != 0) {
    sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr);
  }
  return sqlite3_exec(db, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool deserialize_can_replace(sqlite3* db, const char* schema) {
  const sqlite3_vfs* vfs = nullptr;
  const int code = sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs);
  return code == SQLITE_OK && vfs != nullptr && std::string_view(vfs->zName) == "memdb";
}

// SQLITE_DBSTATUS_CACHE_USED_SHARED divides a shared cache among its connections. The two values
// therefore differ only if the cache is shared.
bool shares_cache(sqlite3* db) {
  int used = 0;
  int share = 0;
  int highest = 0;
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, &used, &highest, 0);
  sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED_SHARED, &share, &highest, 0);
  return used != share;
}

bool ReadUncommitted::sees_uncommitted(sqlite3* db) {
  if (is_known()) {
    return is_on_;
  }
  ++calls_;
  if (is_known() || shares_cache(db)) {
    const auto setting = permitted([&] { return is_on(db, "PRAGMA read_uncommitted"); });
    calls_ = setting ? kCallsUntilKnown : kCallsUntilKnown - 1;
    is_on_ = setting ? *setting : shares_cache(db);
  } else {
    is_on_ = false;
  }
  return is_on_;
}

}  // namespace bloom::sqlite
