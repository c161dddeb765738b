#include <sqlite3ext.h>

#include "ext/sqlite_bloom.h"
#include "sql/register.h"

SQLITE_EXTENSION_INIT1

#ifdef _WIN32
#define BLOOM_EXPORT __declspec(dllexport)
#else
#define BLOOM_EXPORT __attribute__((visibility("default")))
#endif

namespace {
// Returns the API table of the SQLite library that loaded this extension first, and makes the
// extension use it. All connections of the process share this table. Thread-safe.
const sqlite3_api_routines* first_api(const sqlite3_api_routines* api) {
  static const sqlite3_api_routines* const kFirst = [api] {
    SQLITE_EXTENSION_INIT2(api);
    return api;
  }();
  return kFirst;
}
}  // namespace

extern "C" BLOOM_EXPORT int sqlite3_bloom_init(sqlite3* db, char** error,
                                               const sqlite3_api_routines* api) {
  if (first_api(api) != api) {
    *error =
        api->mprintf("bloom: in use by another SQLite of this process; load a copy of the file");
    return SQLITE_ERROR;
  }
  return bloom::register_all(db, error);
}

// The entry point that SQLite looks for in a file named mod_bloom.so, the name in Debian's
// packages.
extern "C" BLOOM_EXPORT int sqlite3_modbloom_init(sqlite3* db, char** error,
                                                  const sqlite3_api_routines* api) {
  return sqlite3_bloom_init(db, error, api);
}
