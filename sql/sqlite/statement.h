// SQL statements that the extension itself runs.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/sqlite/api.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

// Runs SQL that returns no rows. Throws SqliteError.
void execute(sqlite3* db, const std::string& sql);

// A prepared statement. Use an Execution to execute it.
class Statement {
 public:
  // Returns the name of a table that is missing, or not as it was made; "" if there is none.
  using FindDamage = std::function<std::string()>;

  // Prepares a statement. Throws SqliteError if the SQL has an error or uses a virtual table.
  //
  // If find_damage() finds a table when the statement is prepared, or after it has failed with
  // SQLITE_ERROR or SQLITE_CONSTRAINT, throws SqliteError(SQLITE_CORRUPT_VTAB). If it finds none,
  // SQLITE_CONSTRAINT becomes SQLITE_ERROR: SQLite would take it for a conflict in the user's row.
  Statement(sqlite3* db, const std::string& sql, FindDamage find_damage = {});
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() = default;

 private:
  friend class Execution;
  void require_ok(int code) const;

  sqlite3* db_;
  FindDamage find_damage_;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One execution of a statement. The destructor resets the statement, which would otherwise keep its
// transaction open.
class Execution {
 public:
  explicit Execution(const Statement& statement)
      : prepared_(statement), statement_(statement.statement_.get()) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution();

  // Bind a value to parameter ?1, ?2, ... and return *this. Throw SqliteError. Text and bytes are
  // not copied. Requires: they outlive the execution.
  Execution& bind(int parameter, std::int64_t value);
  Execution& bind(int parameter, double value);
  Execution& bind(int parameter, std::string_view text);
  Execution& bind(int parameter, std::span<const std::uint8_t> bytes);
  Execution& bind(int parameter, const Value& value);
  // Binds a pointer, which only Value::pointer(type) reads. SQL sees NULL.
  Execution& bind_pointer(int parameter, void* pointer, const char* type);

  // Moves to the next row. Returns whether there is one. Throws SqliteError.
  bool step();

  // Moves to the end. Returns how many rows there are after the current one. An application can
  // replace count(), max() and other functions, so count rows by this function where possible.
  std::uint64_t count_rows();

  // Returns how many times SQLite has prepared the statement again.
  int repreparations() const {
    return sqlite3_stmt_status(statement_, SQLITE_STMTSTATUS_REPREPARE, 0);
  }

  int columns() const { return sqlite3_column_count(statement_); }
  // Return a column of the current row; the first column is 0. They are valid until the next
  // step().
  int type(int column) const { return sqlite3_column_type(statement_, column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  Value value(int column) const { return Value(sqlite3_column_value(statement_, column)); }
  std::span<const std::uint8_t> blob(int column) const;  // throws std::bad_alloc

 private:
  const Statement& prepared_;
  sqlite3_stmt* statement_;
};

// Returns whether there is a table, not a view, with these columns. No authorizer and no limit
// changes the answer.
bool has_columns(sqlite3* db, const std::string& schema, const std::string& table,
                 std::initializer_list<const char*> columns);

// Returns the names of all ordinary tables whose names begin with `prefix`, in any case. Throws
// SqliteError.
std::vector<std::string> tables_named(sqlite3* db, const std::string& schema,
                                      const std::string& prefix);

// Triggers have names of their own: a table can have the name of one.
enum class Named { table_view_or_index, trigger };
// Returns whether the schema has such an object of this name. Throws SqliteError.
bool has_object(sqlite3* db, std::string_view schema, std::string_view name,
                Named what = Named::table_view_or_index);

// Returns the CREATE statement of a table, index or trigger (`type`) as the schema stores it.
// Returns "" if there is no such object. Throws SqliteError.
std::string stored_sql(sqlite3* db, std::string_view schema, std::string_view type,
                       std::string_view name);

}  // namespace bloom::sqlite
