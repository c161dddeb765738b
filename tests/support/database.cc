#include "tests/support/database.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace bloom::test {

thread_local bool in_sqlite = false;

namespace {

// Aborts the program if the code is an error. A fuzzer then keeps the input.
void require_ok(int code, const char* what, sqlite3* db) {
  if (code != SQLITE_OK) {
    std::fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    std::abort();
  }
}

template <typename Call>
auto call(Call&& of_sqlite) {
  in_sqlite = true;
  const auto result = of_sqlite();
  in_sqlite = false;
  return result;
}

void append_row(sqlite3_stmt* statement, std::string& text) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const void* const bytes = call([&] { return sqlite3_column_blob(statement, i); });
    text.append(static_cast<const char*>(bytes),
                static_cast<std::size_t>(sqlite3_column_bytes(statement, i)))
        .append("|");
  }
  text += '\n';
}

}  // namespace

Database::Database(const std::string& file, const char* vfs) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  require_ok(sqlite3_open_v2(file.c_str(), &db_, kFlags, vfs), "cannot open the database", db_);
}

Database::~Database() { require_ok(sqlite3_close(db_), "cannot close the connection", db_); }

Outcome Database::run(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  int code = call([&] { return sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr); });
  std::string text;
  if (code == SQLITE_OK) {
    while (call([&] { return sqlite3_step(statement); }) == SQLITE_ROW) {
      append_row(statement, text);
    }
    code = call([&] { return sqlite3_finalize(statement); });
  }
  if (code != SQLITE_OK) {
    text = error();
  }
  return {code, text};
}

int Database::execute(const std::string& script) {
  return call([&] { return sqlite3_exec(db_, script.c_str(), nullptr, nullptr, nullptr); });
}

Outcome Database::load(const std::string& extension) {
  sqlite3_enable_load_extension(db_, 1);
  char* message = nullptr;
  const int code =
      call([&] { return sqlite3_load_extension(db_, extension.c_str(), nullptr, &message); });
  Outcome outcome{code, message != nullptr ? message : ""};
  sqlite3_free(message);
  return outcome;
}

}  // namespace bloom::test
