#include <sqlite3ext.h>

#include "ext/sqlite_bloom.h"
#include "sql/register.h"

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#endif

SQLITE_EXTENSION_INIT1

#ifdef _WIN32
#define BLOOM_EXPORT __declspec(dllexport)
#else
#define BLOOM_EXPORT __attribute__((visibility("default")))
#endif

namespace {
// Keeps this file in memory until the process ends. If the entry point fails, SQLite unloads the
// file but keeps the functions that were registered before.
void stay_loaded() {
#if defined(_WIN32)
  HMODULE file = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                     reinterpret_cast<LPCWSTR>(&stay_loaded), &file);
#elif defined(__APPLE__)
  Dl_info file;
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &file) != 0) {
    dlopen(file.dli_fname, RTLD_NOW | RTLD_NODELETE);
  }
#endif
  // Elsewhere the linker's option -z nodelete does this.
}

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
  stay_loaded();
  return bloom::register_all(db, error);
}

// The entry point that SQLite looks for in a file named mod_bloom.so, the name in Debian's
// packages.
extern "C" BLOOM_EXPORT int sqlite3_modbloom_init(sqlite3* db, char** error,
                                                  const sqlite3_api_routines* api) {
  return sqlite3_bloom_init(db, error, api);
}
