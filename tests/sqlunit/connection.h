// A connection for unit tests of sql/. The extension is linked into the test program, and its
// functions of SQLite are those of this program.
#pragma once

#include <string>

#include "core/support/error.h"
#include "sql/sqlite/value.h"

namespace bloom::test {

// Returns a connection to a database in memory. All tests share the connection.
sqlite3* connection();

// Returns the value of an SQL expression.
sqlite::OwnedValue value_of(const std::string& expression);

// Returns the message of the bloom::Error that f() throws, or "" if it throws none.
template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace bloom::test
