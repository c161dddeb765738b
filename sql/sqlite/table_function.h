// Registers table-valued functions on a connection: read-only virtual tables that need no CREATE
// VIRTUAL TABLE (sqlite.org: "eponymous-only virtual tables"). Their hidden columns are the
// arguments. A function is a class, of which every cursor has one object:
//   struct Primes {
//     static constexpr char kName[] = "primes";
//     // The error if an argument is missing:
//     static constexpr char kUsage[] = "the call must be primes(limit)";
//     static constexpr char kColumns[] = "CREATE TABLE x(prime, \"limit\" HIDDEN)";
//     static constexpr int kFirstArgument = 1;  // number of the first argument's column
//     static constexpr int kArguments = 1;
//     // xFilter: moves to the first row.
//     void start(const Values& arguments, const InterruptCheck& check_interrupt);
//     bool at_end() const noexcept;         // xEof
//     void next() noexcept;                 // xNext
//     // xColumn, for the columns before the arguments:
//     void column(Context&, int i) const noexcept;
//   };
// start() may throw: the statement then fails with "<name>: <what>". The other functions must be
// noexcept, as the concept TableFunction checks.
#pragma once

#include <array>
#include <concepts>

#include "sql/sqlite/api.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/interrupts.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

template <typename Function>
concept TableFunction = std::default_initializable<Function> &&
    requires(Function function, const Function& row, const Values& arguments, Context& context,
             const InterruptCheck& check_interrupt) {
  function.start(arguments, check_interrupt);
  { row.at_end() } -> std::same_as<bool>;
  function.next();
  row.column(context, 0);
  requires noexcept(row.at_end());
  requires noexcept(function.next());
  requires noexcept(row.column(context, 0));
};

template <TableFunction Function>
class TableFunctionModule {
 public:
  // Throws SqliteError if SQLite refuses the module.
  static void add(sqlite3* db) {
    require_ok(db, sqlite3_create_module_v2(db, Function::kName, &kModule, nullptr, nullptr));
  }

 private:
  struct Table : sqlite3_vtab {
    explicit Table(sqlite3* connection) : sqlite3_vtab{}, db(connection) {}
    sqlite3* db;
  };
  struct Cursor : sqlite3_vtab_cursor {
    Function function;
    std::array<OwnedValue, Function::kArguments> arguments;  // copies, for the hidden columns
    sqlite3_int64 rowid = 0;
  };

  // Runs body(). Reports an exception as an error of the table. Returns an SQLite result code.
  template <typename Body>
  static int call(sqlite3_vtab* table, Body&& body) {
    int code = SQLITE_OK;
    guard(body,
          [&](const Failure& failure) { code = report_error(table, Function::kName, failure); });
    return code;
  }

  static int connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** out,
                     char** message) {
    return guard_with_message(Function::kName, message, [&] {
      require_ok(db, sqlite3_declare_vtab(db, Function::kColumns));
      require_ok(db, sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS));
      *out = new Table(db);
    });
  }

  static int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  }

  // The only plan requires a value for every argument. If a value comes from a table that is not
  // yet available, SQLite tries another join order. If an argument is missing from the call, the
  // query fails.
  static int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
    std::array<int, Function::kArguments> found;
    found.fill(-1);
    bool waits_for_other_table = false;
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      const int argument = constraint.iColumn - Function::kFirstArgument;
      if (argument < 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) {
        continue;
      }
      if (constraint.usable == 0) {
        waits_for_other_table = true;
      } else if (found[static_cast<std::size_t>(argument)] < 0) {
        found[static_cast<std::size_t>(argument)] = i;
      }
    }
    for (int argument = 0; argument < Function::kArguments; ++argument) {
      const int i = found[static_cast<std::size_t>(argument)];
      if (i < 0) {
        return waits_for_other_table
                   ? SQLITE_CONSTRAINT
                   : report_error(table, Function::kName, {SQLITE_ERROR, Function::kUsage});
      }
      info->aConstraintUsage[i].argvIndex = argument + 1;
      info->aConstraintUsage[i].omit = 1;
    }
    info->estimatedCost = 10;
    info->estimatedRows = 10;
    return SQLITE_OK;
  }

  static int open(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
    return call(table, [&] { *out = new Cursor{}; });
  }

  static int close(sqlite3_vtab_cursor* raw) {
    delete &cursor_of(raw);
    return SQLITE_OK;
  }

  static int filter(sqlite3_vtab_cursor* raw, int, const char*, int count, sqlite3_value** values) {
    return call(raw->pVtab, [&] {
      Cursor& cursor = cursor_of(raw);
      const Values arguments(count, values);
      for (int i = 0; i < count; ++i) {
        cursor.arguments[static_cast<std::size_t>(i)] = arguments[i].copy();
      }
      cursor.rowid = 0;
      Interrupts interrupts(static_cast<Table*>(raw->pVtab)->db);
      cursor.function.start(arguments, interrupts.check());
    });
  }

  static int next(sqlite3_vtab_cursor* raw) {
    cursor_of(raw).function.next();
    ++cursor_of(raw).rowid;
    return SQLITE_OK;
  }

  static int eof(sqlite3_vtab_cursor* raw) { return cursor_of(raw).function.at_end() ? 1 : 0; }

  static int column(sqlite3_vtab_cursor* raw, sqlite3_context* context, int i) {
    const Cursor& cursor = cursor_of(raw);
    if (i >= Function::kFirstArgument) {
      sqlite3_result_value(
          context, cursor.arguments[static_cast<std::size_t>(i - Function::kFirstArgument)].get());
    } else {
      Context result(context);
      cursor.function.column(result, i);
    }
    return SQLITE_OK;
  }

  static int rowid(sqlite3_vtab_cursor* raw, sqlite3_int64* out) {
    *out = cursor_of(raw).rowid;
    return SQLITE_OK;
  }

  static Cursor& cursor_of(sqlite3_vtab_cursor* raw) { return *static_cast<Cursor*>(raw); }

  static constexpr sqlite3_module make_module() {
    sqlite3_module module{};
    module.xConnect = connect;  // without xCreate: an eponymous-only virtual table
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xOpen = open;
    module.xClose = close;
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = eof;
    module.xColumn = column;
    module.xRowid = rowid;
    return module;
  }
  static constexpr sqlite3_module kModule = make_module();
};

}  // namespace bloom::sqlite
