// A connection with the extension loaded, whose every statement may be made to fail; and what its
// database means, as a text that can be compared.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

namespace bloom::faults {

// Whether the thread is within a call of SQLite's that a Database makes: only then may its memory
// fail.
extern thread_local bool in_sqlite;

// Of one statement: the result code of SQLite, and all columns of all rows or the error's text.
struct Outcome {
  int code;
  std::string text;

  bool ok() const { return code == SQLITE_OK; }
  bool operator==(const Outcome&) const = default;
};

class Database {
 public:
  // `vfs`: null for the system's own. Ends the program if it cannot be opened.
  explicit Database(const std::string& file, const char* vfs = nullptr);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  // Ends the program if something is left open.
  ~Database();

  sqlite3* raw() { return db_; }
  // A statement, or kLoad with a file's name.
  Outcome run(const std::string& sql);
  bool in_transaction() { return sqlite3_get_autocommit(db_) == 0; }

  // The schema; the rows of every ordinary table but the shadow tables; of every bloom table what
  // its info says and which of the keys of scenario.h it answers, or how it refuses to.
  std::string state();
  // The names of all tables that have rows of their own.
  std::vector<std::string> stored_tables();
  // Empty, or what SQLite or a bloom table found damaged.
  std::string damage();

 private:
  Outcome load(const std::string& extension);

  sqlite3* db_ = nullptr;
};

// Whether a state has a table in it that refuses to answer.
bool refuses(const std::string& state);

}  // namespace bloom::faults
