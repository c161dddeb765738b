#include "sql/register.h"

#include <optional>
#include <string>
#include <string_view>

#include "core/support/memory.h"
#include "sql/bloom_table/bloom_module.h"
#include "sql/functions/functions.h"
#include "sql/group_table/group_module.h"
#include "sql/heap_limit.h"
#include "sql/search_table/search_table.h"
#include "sql/sqlite/atomically.h"
#include "sql/sqlite/guard.h"
#include "sql/values/hidden_type.h"

namespace bloom {
namespace {

// SQLite 3.31.0 is the first version with SQLITE_INNOCUOUS. Without that flag the functions could
// not be used in views and triggers of an untrusted schema.
void require_sqlite_version() {
  constexpr int kOldest = 3031000;
  if (sqlite3_libversion_number() < kOldest) {
    throw sqlite::SqliteError(
        SQLITE_ERROR, std::string("SQLite must be 3.31.0 or newer, got ") + sqlite3_libversion());
  }
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

void require_same_version(const std::string& loaded) {
  if (loaded != BLOOM_VERSION) {
    throw sqlite::SqliteError(
        SQLITE_ERROR,
        "version " + loaded + " is loaded, which cannot be replaced by " + BLOOM_VERSION);
  }
}

}  // namespace

// Registering the module twice on a connection would make two sets of tables. A table of one set
// would not share its filter with the same table of the other.
int register_all(sqlite3* db, char** message) {
  return sqlite::guard_with_message("bloom", message, [&] {
    require_sqlite_version();
    set_memory_limit(memory_below_heap_limit);
    const auto version = registered_version(db);
    if (version) {
      require_same_version(*version);
      return;
    }
    add_rtrim_alias(db);
    add_filter_functions(db);
    add_contains_functions(db);
    add_inspect_functions(db);
    add_formula_functions(db);
    add_aggregates(db);
    add_table_functions(db);
    sqlite::add_atomic_function(db);
    add_bloom_module(db);
    add_explain_function(db);
    add_group_module(db);
    add_search_module(db);
    // Registered last: if bloom_version() exists, all others do.
    add_version_function(db);
  });
}

}  // namespace bloom
