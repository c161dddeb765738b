#include "sql/register.h"

#include <optional>
#include <string>
#include <string_view>

#include "sql/filter_functions.h"
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
  // Registered last: if bloom_version() exists, all others do.
  return sqlite::add_function(db, kVersion);
}

// Returns what bloom_version() returns on this connection; nullopt if there is no such function.
// Throws SqliteError if the call fails for another reason (an authorizer, a progress handler, no
// memory), because the function may exist then.
std::optional<std::string> registered_version(sqlite3* db) {
  constexpr std::string_view kMissing = "no such function";
  sqlite3_stmt* select = nullptr;
  int code = sqlite3_prepare_v2(db, "SELECT bloom_version()", -1, &select, nullptr);
  const bool is_missing =
      code == SQLITE_ERROR && std::string_view(sqlite3_errmsg(db)).starts_with(kMissing);
  std::optional<std::string> version;
  if (code == SQLITE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(select, 0));
    version = text == nullptr ? "unknown" : text;
  }
  const std::string error = sqlite3_errmsg(db);
  sqlite3_finalize(select);
  // SQLite checks the last error of a new connection after it has run the automatic extensions.
  // This statement clears the error of the failed prepare.
  sqlite3_exec(db, "SELECT 1", nullptr, nullptr, nullptr);
  if (!version && !is_missing) {
    throw sqlite::SqliteError(code,
                              "cannot tell whether the extension is loaded already: " + error);
  }
  return version;
}

}  // namespace

// Registering the module twice on a connection would make two sets of tables. A table of one set
// would not share its filter with the same table of the other.
int register_all(sqlite3* db, char** error) {
  int code = SQLITE_OK;
  sqlite::guard(
      [&] {
        const auto version = registered_version(db);
        if (version && *version != BLOOM_VERSION) {
          throw sqlite::SqliteError(
              SQLITE_ERROR,
              "version " + *version + " is loaded, which cannot be replaced by " + BLOOM_VERSION);
        }
        if (!version && (code = register_new(db)) != SQLITE_OK) {
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
