// An extension with functions that do as little as possible: the baselines for other measurements.
//   noop(...)             returns 1 for any arguments
//   copy(blob)            returns a copy: what every function that changes a blob must do
//   hash_key(blob, text)  reads both and hashes the text: all of a lookup but the probes
//   hash_keys(text, ...)  an aggregate that hashes the text of each row
//   hashed                a virtual table that hashes the text and returns one row:
//                         SELECT ... FROM hashed WHERE key = t
//   hashed_key            as hashed, also for integers, and the row has the key
//   appended              bench/appended.cc
//   passed                bench/pass_through.cc

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "bench/appended.h"
#include "bench/pass_through.h"
#include "core/hashing/hash.h"
#include "sql/sqlite/api.h"

SQLITE_EXTENSION_INIT1

namespace {

void noop(sqlite3_context* context, int, sqlite3_value**) { sqlite3_result_int(context, 1); }

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

// Always true for a text or an integer, but the compiler cannot know that, so it cannot remove the
// hashing.
bool has_a_hash(sqlite3_value* value) {
  if (sqlite3_value_type(value) == SQLITE_INTEGER) {
    const sqlite3_int64 key = sqlite3_value_int64(value);
    return bloom::hash_key({reinterpret_cast<const char*>(&key), sizeof key}, 0) != bloom::Hash{};
  }
  if (sqlite3_value_type(value) != SQLITE_TEXT) {
    return false;
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const std::string_view key(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
  return bloom::hash_key(key, 0) != bloom::Hash{};
}

void hash_key(sqlite3_context* context, int, sqlite3_value** arguments) {
  const bool has_blob = sqlite3_value_type(arguments[0]) == SQLITE_BLOB &&
                        sqlite3_value_blob(arguments[0]) != nullptr &&
                        sqlite3_value_bytes(arguments[0]) != 0;
  sqlite3_result_int(context, has_blob && has_a_hash(arguments[1]) ? 1 : 0);
}

void hash_keys_step(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto* count = static_cast<int*>(sqlite3_aggregate_context(context, sizeof(int)));
  if (count != nullptr) {
    *count += has_a_hash(arguments[0]) ? 1 : 0;
  }
}
void hash_keys_finish(sqlite3_context* context) { sqlite3_result_int(context, 1); }

struct Table {
  sqlite3_vtab base;
  bool has_keys;
};

struct Cursor {
  sqlite3_vtab_cursor base;
  int at_end;
  sqlite3_value* key;
};

int connect(sqlite3* db, void* has_keys, int, const char* const*, sqlite3_vtab** out, char**) {
  *out = &(new Table{{}, has_keys != nullptr})->base;
  return sqlite3_declare_vtab(db, "CREATE TABLE x(key)");
}

int disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  int i = 0;
  while (i < info->nConstraint && (info->aConstraint[i].usable == 0 ||
                                   info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)) {
    ++i;
  }
  if (i == info->nConstraint) {
    return SQLITE_CONSTRAINT;
  }
  info->aConstraintUsage[i].argvIndex = 1;
  info->aConstraintUsage[i].omit = 1;
  info->estimatedCost = 1;
  info->estimatedRows = 1;
  info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = &(new Cursor{})->base;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* base) {
  auto* cursor = reinterpret_cast<Cursor*>(base);
  sqlite3_value_free(cursor->key);
  delete cursor;
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value** values) {
  auto* cursor = reinterpret_cast<Cursor*>(base);
  cursor->at_end = has_a_hash(values[0]) ? 0 : 1;
  if (reinterpret_cast<Table*>(base->pVtab)->has_keys) {
    sqlite3_value_free(cursor->key);
    cursor->key = sqlite3_value_dup(values[0]);
  }
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  reinterpret_cast<Cursor*>(cursor)->at_end = 1;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* cursor) { return reinterpret_cast<Cursor*>(cursor)->at_end; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int) {
  const auto* cursor = reinterpret_cast<Cursor*>(base);
  if (cursor->key != nullptr) {
    sqlite3_result_value(context, cursor->key);
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor*, sqlite3_int64* out) {
  *out = 0;
  return SQLITE_OK;
}

constexpr sqlite3_module make_table() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}
constexpr sqlite3_module kTable = make_table();

struct Function {
  const char* name;
  int arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
  void (*step)(sqlite3_context*, int, sqlite3_value**);
  void (*finish)(sqlite3_context*);
};
constexpr Function kFunctions[] = {
    {"noop", -1, noop, nullptr, nullptr},
    {"copy", 1, copy, nullptr, nullptr},
    {"hash_key", 2, hash_key, nullptr, nullptr},
    {"hash_keys", -1, nullptr, hash_keys_step, hash_keys_finish},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) int sqlite3_noop_init(
    sqlite3* db, char**, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  static int has_keys = 1;
  int code = sqlite3_create_module_v2(db, "hashed", &kTable, nullptr, nullptr);
  if (code == SQLITE_OK) {
    code = sqlite3_create_module_v2(db, "hashed_key", &kTable, &has_keys, nullptr);
  }
  if (code == SQLITE_OK) {
    code = bloom::bench::register_pass_through(db);
  }
  if (code == SQLITE_OK) {
    code = bloom::bench::register_appended(db);
  }
  for (const Function& function : kFunctions) {
    if (code == SQLITE_OK) {
      code =
          sqlite3_create_function_v2(db, function.name, function.arguments,
                                     SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                     function.call, function.step, function.finish, nullptr);
    }
  }
  return code;
}
