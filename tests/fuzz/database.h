// An SQLite database in memory with the extension linked in, bounded in time and memory.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bloom::fuzz {

class Database {
 public:
  Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  sqlite3* get() const { return db_; }
  std::string error() const { return sqlite3_errmsg(db_); }

  // Every statement of a script. Returns the result code of the first that failed, or of the last.
  int run(const std::string& sql);
  // The same, which must succeed.
  void must_run(const std::string& sql);

  // All of it as bytes; the same in another database, before anything is done there.
  std::string image() const;
  void restore(std::string_view image);

  // Statements of later calls are interrupted after so many steps of SQLite's machine in all.
  void allow_steps(int steps);

 private:
  sqlite3* db_ = nullptr;
  sqlite3_int64 used_before_ = 0;
  int ticks_ = 0;
};

// A statement that is used again and again.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  // Whether the SQL could be prepared.
  bool is_there() const { return statement_ != nullptr; }

  // Bytes must live until the next reset().
  Statement& bind(int parameter, std::span<const std::uint8_t> blob);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, const sqlite3_value* value);

  int step() { return sqlite3_step(statement_.get()); }
  int reset() { return sqlite3_reset(statement_.get()); }
  std::int64_t integer(int column) { return sqlite3_column_int64(statement_.get(), column); }
  std::string_view text(int column);
  const sqlite3_value* value(int column) { return sqlite3_column_value(statement_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Whether a statement may fail so, whatever it is given: nothing is wrong with memory, disk, or the
// use of SQLite's interface.
bool is_refusal(int code);

}  // namespace bloom::fuzz
