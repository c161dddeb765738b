#include "tests/sqlunit/connection.h"

#include "ext/sqlite_bloom.h"
#include "sql/sqlite/statement.h"
#include "tests/support/database.h"

// This program's own functions: the others do not work before the extension is initialized.
#undef sqlite3_auto_extension

namespace bloom::test {
namespace {

const Database& shared_database() {
  static const int kAdded =
      sqlite3_auto_extension(reinterpret_cast<void (*)()>(sqlite3_bloom_init));
  static_cast<void>(kAdded);
  static const Database kDatabase(":memory:");
  return kDatabase;
}

// Functions such as affinity_of() need SQLite, but no connection.
const Database& is_initialized = shared_database();

}  // namespace

sqlite3* connection() { return shared_database().get(); }

sqlite::OwnedValue value_of(const std::string& expression) {
  const sqlite::Statement select(connection(), "SELECT " + expression);
  sqlite::Execution run(select);
  run.step();
  return run.value(0).copy();
}

}  // namespace bloom::test
