// Runs the bytes as an SQL script. Every script must end soon, with results or errors.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/fuzz/bounded_database.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {
namespace {

constexpr int kMostSteps = 200'000;

// Denies access to anything outside this database, and to settings of the process.
int authorize(void*, int action, const char* first, const char*, const char*, const char*) {
  const auto is = [first](const char* name) { return sqlite3_stricmp(first, name) == 0; };
  switch (action) {
    case SQLITE_ATTACH:
      // Any other text is the name of a file. `first` is null if the name is an expression.
      return first != nullptr && std::strcmp(first, ":memory:") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
      return is("hard_heap_limit") || is("soft_heap_limit") || is("temp_store_directory") ||
                     is("data_store_directory") || is("writable_schema")
                 ? SQLITE_DENY
                 : SQLITE_OK;
    default:
      return SQLITE_OK;
  }
}

void run(const std::string& script) {
  BoundedDatabase database;
  sqlite3_set_authorizer(database.get(), authorize, nullptr);
  sqlite3_limit(database.get(), SQLITE_LIMIT_VDBE_OP, 25'000);
  sqlite3_limit(database.get(), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
  database.limit_steps(kMostSteps);
  // As a shell does: a statement that fails does not keep the next from running.
  const char* next = script.c_str();
  while (*next != '\0') {
    sqlite3_stmt* statement = nullptr;
    const char* const from = next;
    sqlite3_prepare_v2(database.get(), from, -1, &statement, &next);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        sqlite3_column_text(statement, i);
      }
    }
    sqlite3_finalize(statement);
    if (next == from || statement == nullptr) {
      const char* const end = std::strchr(from, ';');
      next = end == nullptr ? "" : end + 1;
    }
  }
}

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bloom::fuzz::run(std::string(bytes, bytes + size));
  return 0;
}
