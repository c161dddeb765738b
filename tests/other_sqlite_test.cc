// A process with two copies of SQLite: the second to load the extension is refused, since it would
// be called through the functions of the first. Here the second is the same one at another address.
//   other_sqlite_test EXTENSION
#include <dlfcn.h>
#include <sqlite3ext.h>

#include <cstdio>
#include <string_view>

SQLITE_EXTENSION_INIT1

namespace {

using Init = int (*)(sqlite3* db, char** error, const sqlite3_api_routines* api);

int keep_api(sqlite3*, char**, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  return 0;
}

}  // namespace

#undef sqlite3_auto_extension
#undef sqlite3_open
extern "C" int sqlite3_auto_extension(void (*init)());
extern "C" int sqlite3_open(const char* file, sqlite3** db);

int main(int, char** arguments) {
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(keep_api));
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  void* const library = dlopen(arguments[1], RTLD_NOW);
  const auto init = reinterpret_cast<Init>(dlsym(library, "sqlite3_bloom_init"));
  char* error = nullptr;
  const bool loaded = init(db, &error, sqlite3_api) == SQLITE_OK;
  const sqlite3_api_routines other = *sqlite3_api;
  const bool refused = init(db, &error, &other) == SQLITE_ERROR;
  std::printf("%d %d %s\n", loaded, refused, error);
  const bool told = std::string_view(error).find("another SQLite") != std::string_view::npos;
  sqlite3_free(error);
  const bool works =
      sqlite3_exec(db, "SELECT bloom_build(1)", nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(db);
  return loaded && refused && told && works ? 0 : 1;
}
