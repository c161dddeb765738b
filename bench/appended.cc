// A virtual table that appends the hash of each key to an ordinary table by a prepared statement,
// and does nothing else: the floor for INSERT into a virtual table that loses nothing between two
// statements.
//   CREATE VIRTUAL TABLE a USING appended(16)    -- with 16 columns: SQLite passes each to xUpdate
//   INSERT INTO a(key) VALUES ('k')    -- a row of a_log(id INTEGER PRIMARY KEY, row BLOB)

#include "bench/appended.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "core/hashing/hash.h"
#include "sql/sqlite/api.h"

SQLITE_EXTENSION_INIT3

namespace {

struct Table {
  sqlite3_vtab base;
  sqlite3_stmt* insert;
};

Table* table_of(sqlite3_vtab* base) { return reinterpret_cast<Table*>(base); }

int connect(sqlite3* db, void*, int count, const char* const* values, sqlite3_vtab** out, char**) {
  const std::string log =
      std::string("\"").append(values[1]).append("\".\"").append(values[2]) + "_log\"";
  const std::string create = "CREATE TABLE IF NOT EXISTS " + log + "(id INTEGER PRIMARY KEY, row)";
  auto* table = new Table{{}, nullptr};
  *out = &table->base;
  int code = sqlite3_exec(db, create.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    const std::string insert = "INSERT INTO " + log + "(row) VALUES (?1)";
    code = sqlite3_prepare_v3(db, insert.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &table->insert,
                              nullptr);
  }
  std::string columns = "CREATE TABLE x(key";
  for (int i = 1; count == 4 && i < std::atoi(values[3]); ++i) {
    columns.append(", c").append(std::to_string(i)).append(" HIDDEN");
  }
  return code == SQLITE_OK ? sqlite3_declare_vtab(db, (columns + ")").c_str()) : code;
}

int disconnect(sqlite3_vtab* base) {
  sqlite3_finalize(table_of(base)->insert);
  delete table_of(base);
  return SQLITE_OK;
}

int update(sqlite3_vtab* base, int count, sqlite3_value** values, sqlite3_int64*) {
  if (count < 3) {  // no INSERT
    return SQLITE_READONLY;
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[2]));
  const std::string_view key(text, static_cast<std::size_t>(sqlite3_value_bytes(values[2])));
  const bloom::Hash hash = bloom::hash_key(key, 0);
  std::uint8_t row[sizeof hash];
  std::memcpy(row, &hash, sizeof hash);
  sqlite3_stmt* const insert = table_of(base)->insert;
  sqlite3_bind_blob(insert, 1, row, sizeof row, SQLITE_STATIC);
  sqlite3_step(insert);
  return sqlite3_reset(insert);
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }
int open(sqlite3_vtab*, sqlite3_vtab_cursor**) { return SQLITE_READONLY; }
int close(sqlite3_vtab_cursor*) { return SQLITE_OK; }
int filter(sqlite3_vtab_cursor*, int, const char*, int, sqlite3_value**) { return SQLITE_OK; }
int next(sqlite3_vtab_cursor*) { return SQLITE_OK; }
int eof(sqlite3_vtab_cursor*) { return 1; }
int column(sqlite3_vtab_cursor*, sqlite3_context*, int) { return SQLITE_OK; }
int rowid(sqlite3_vtab_cursor*, sqlite3_int64*) { return SQLITE_OK; }
int note(sqlite3_vtab*) { return SQLITE_OK; }
int note_savepoint(sqlite3_vtab*, int) { return SQLITE_OK; }

// It takes part in transactions and savepoints, as every table must that keeps anything in memory.
constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 2;
  module.xCreate = connect;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  module.xUpdate = update;
  module.xBegin = note;
  module.xSync = note;
  module.xCommit = note;
  module.xRollback = note;
  module.xSavepoint = note_savepoint;
  module.xRelease = note_savepoint;
  module.xRollbackTo = note_savepoint;
  return module;
}
constexpr sqlite3_module kModule = make_module();

}  // namespace

namespace bloom::bench {

int register_appended(sqlite3* db) {
  return sqlite3_create_module_v2(db, "appended", &kModule, nullptr, nullptr);
}

}  // namespace bloom::bench
