// A connection to an SQLite database, for tests in C++.
#pragma once

#include <sqlite3.h>

#include <string>

namespace bloom::test {

// Whether this thread is inside a call of SQLite that a Database makes. Tests of failing memory let
// only these calls fail.
extern thread_local bool in_sqlite;

struct Outcome {
  int code;          // the result code of the statement
  std::string text;  // all columns of all rows, or the error message

  bool ok() const { return code == SQLITE_OK; }
  bool operator==(const Outcome&) const = default;
};

class Database {
 public:
  // `vfs`: null for the default one. Ends the program if the file cannot be opened.
  explicit Database(const std::string& file, const char* vfs = nullptr);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  // Ends the program if a statement or another object of the connection is still open.
  ~Database();

  sqlite3* get() const { return db_; }
  std::string error() const { return sqlite3_errmsg(db_); }
  bool in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

  // Runs one statement.
  Outcome run(const std::string& sql);
  // Runs all statements of a script, without their rows. Returns the result code of the first that
  // failed, or of the last.
  int execute(const std::string& script);
  // Loads an extension by sqlite3_load_extension(). The SQL function load_extension() does not work
  // here: while its statement runs, SQLite cannot replace functions that an earlier load
  // registered.
  Outcome load(const std::string& extension);

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace bloom::test
