// An extension of functions that do nothing, to measure others against: noop(...) and
// noop_aggregate(...) take any arguments and give 1, copy(blob) gives a copy, as every function
// must that changes a blob.

#include <cstdlib>
#include <cstring>

#include "sql/sqlite/api.h"

SQLITE_EXTENSION_INIT1

namespace {

void noop(sqlite3_context* context, int, sqlite3_value**) { sqlite3_result_int(context, 1); }

void noop_step(sqlite3_context*, int, sqlite3_value**) {}
void noop_finish(sqlite3_context* context) { sqlite3_result_int(context, 1); }

void copy(sqlite3_context* context, int, sqlite3_value** arguments) {
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
  void* bytes = std::malloc(size);
  if (bytes == nullptr) {
    sqlite3_result_error_nomem(context);
    return;
  }
  std::memcpy(bytes, sqlite3_value_blob(arguments[0]), size);
  sqlite3_result_blob64(context, bytes, size, std::free);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int sqlite3_noop_init(
    sqlite3* db, char**, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int code =
      sqlite3_create_function_v2(db, "noop", -1, kFlags, nullptr, noop, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_create_function_v2(db, "noop_aggregate", -1, kFlags, nullptr, nullptr, noop_step,
                                      noop_finish, nullptr);
  }
  if (code == SQLITE_OK) {
    code =
        sqlite3_create_function_v2(db, "copy", 1, kFlags, nullptr, copy, nullptr, nullptr, nullptr);
  }
  return code;
}
