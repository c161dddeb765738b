#include "sql/register.h"

#include <string>

#include "sql/functions.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/vtab.h"

namespace bloom {
namespace {

int register_new(sqlite3* db) {
  for (const auto functions : {filter_functions(), inspect_functions(), formula_functions()}) {
    for (const sqlite::Scalar& function : functions) {
      const int code = sqlite::add_function(db, function);
      if (code != SQLITE_OK) {
        return code;
      }
    }
  }
  for (const auto add :
       {add_contains_functions, add_aggregates, add_table_functions, add_table_module}) {
    const int code = add(db);
    if (code != SQLITE_OK) {
      return code;
    }
  }
  // The last one: where it is, the others are.
  return sqlite::add_function(db, kVersion);
}

// What bloom_version() says on this connection; empty if there is none.
std::string registered_version(sqlite3* db) {
  std::string version;
  sqlite3_stmt* select = nullptr;
  if (sqlite3_prepare_v2(db, "SELECT bloom_version()", -1, &select, nullptr) == SQLITE_OK &&
      sqlite3_step(select) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(select, 0));
    version = text == nullptr ? "" : text;
  }
  sqlite3_finalize(select);
  // Whoever opens a connection asks for the last error after its automatic extensions have run.
  sqlite3_exec(db, "SELECT 1", nullptr, nullptr, nullptr);
  return version;
}

}  // namespace

// A module that is registered again would have tables that know nothing of what waits in those of
// the first.
int register_all(sqlite3* db, char** error) {
  int code = SQLITE_OK;
  sqlite::guard(
      [&] {
        const std::string version = registered_version(db);
        if (!version.empty() && version != BLOOM_VERSION) {
          throw sqlite::SqliteError(
              SQLITE_ERROR,
              "version " + version + " is loaded, which cannot be replaced by " + BLOOM_VERSION);
        }
        if (version.empty() && (code = register_new(db)) != SQLITE_OK) {
          throw sqlite::SqliteError(code, sqlite3_errmsg(db));
        }
      },
      [&](const sqlite::Failure& failure) {
        code = failure.code;
        *error = sqlite::error_text("bloom", failure);
      });
  return code;
}

}  // namespace bloom
