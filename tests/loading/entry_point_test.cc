// The entry point, called by others than load_extension(): as an automatic extension of every new
// connection, and by a second copy of SQLite in the process, which is refused, since it would be
// called through the functions of the first. Here the second is the same one at another address.
//   entry_point_test EXTENSION
#include <dlfcn.h>
#include <sqlite3ext.h>

#include <cstdio>
#include <string_view>

SQLITE_EXTENSION_INIT1

// Those that this program is linked with.
#undef sqlite3_auto_extension
#undef sqlite3_open

namespace {

using Init = int (*)(sqlite3* db, char** error, const sqlite3_api_routines* api);

int keep_api(sqlite3*, char**, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  return SQLITE_OK;
}

void add(Init init) { sqlite3_auto_extension(reinterpret_cast<void (*)()>(init)); }

bool works(sqlite3* db) {
  return sqlite3_exec(db, "SELECT bloom_build(1)", nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool is_refused(Init init, sqlite3* db) {
  const sqlite3_api_routines other = *sqlite3_api;
  char* error = nullptr;
  const int code = init(db, &error, &other);
  const bool told =
      error != nullptr && std::string_view(error).find("another SQLite") != std::string_view::npos;
  sqlite3_free(error);
  return code == SQLITE_ERROR && told;
}

}  // namespace

int main(int, char** arguments) {
  void* const library = dlopen(arguments[1], RTLD_NOW);
  const auto init = reinterpret_cast<Init>(dlsym(library, "sqlite3_bloom_init"));
  add(keep_api);
  add(init);
  int failures = 0;
  const auto expect = [&](bool good, const char* what) {
    std::printf("%s: %s\n", what, good ? "yes" : "NO");
    failures += good ? 0 : 1;
  };
  sqlite3* db = nullptr;
  expect(sqlite3_open(":memory:", &db) == SQLITE_OK && works(db), "an automatic extension");
  expect(is_refused(init, db), "refused to another SQLite");
  expect(works(db), "the first goes on");
  sqlite3_close(db);
  return failures;
}
