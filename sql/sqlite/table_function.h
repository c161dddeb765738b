// Registers table-valued functions: read-only tables that need no CREATE VIRTUAL TABLE. Their
// hidden columns are the arguments. A function is a class:
//   struct Primes {
//     static constexpr char kName[] = "primes";
//     static constexpr char kUsage[] = "primes(limit)";
//     static constexpr char kColumns[] = "CREATE TABLE x(prime, \"limit\" HIDDEN)";
//     static constexpr int kFirstArgument = 1;  // number of the first argument's column
//     static constexpr int kArguments = 1;
//     void start(const Values&);  // gets all arguments; moves to the first row
//     bool at_end() const noexcept;
//     void next() noexcept;
//     void column(Context&, int i) const noexcept;  // i < kFirstArgument
//   };
// start() may throw: the statement then fails with "<name>: <what>".
#pragma once

#include <array>
#include <new>
#include <utility>

#include "sql/sqlite/api.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/value.h"
#include "sql/sqlite/vtab.h"

namespace bloom::sqlite {

template <typename Function>
class TableFunction {
 public:
  // Returns an SQLite result code.
  static int add(sqlite3* db) {
    return sqlite3_create_module_v2(db, Function::kName, &kModule, nullptr, nullptr);
  }

 private:
  struct Table {
    sqlite3_vtab base;
  };
  struct Cursor {
    sqlite3_vtab_cursor base;
    Function function;
    std::array<sqlite3_value*, Function::kArguments> arguments;
    sqlite3_int64 row;

    void forget_arguments() {
      for (auto*& argument : arguments) {
        sqlite3_value_free(argument);
        argument = nullptr;
      }
    }
  };

  static int connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** out, char**) {
    int code = sqlite3_declare_vtab(db, Function::kColumns);
    if (code == SQLITE_OK) {
      code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    }
    if (code == SQLITE_OK) {
      *out = reinterpret_cast<sqlite3_vtab*>(new (std::nothrow) Table{});
      code = *out == nullptr ? SQLITE_NOMEM : SQLITE_OK;
    }
    return code;
  }

  static int disconnect(sqlite3_vtab* table) {
    delete reinterpret_cast<Table*>(table);
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
                   : report(table, Function::kName, {SQLITE_ERROR, Function::kUsage});
      }
      info->aConstraintUsage[i].argvIndex = argument + 1;
      info->aConstraintUsage[i].omit = 1;
    }
    info->estimatedCost = 10;
    info->estimatedRows = 10;
    return SQLITE_OK;
  }

  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    auto* cursor = new (std::nothrow) Cursor{};
    *out = reinterpret_cast<sqlite3_vtab_cursor*>(cursor);
    return cursor == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  }

  static int close(sqlite3_vtab_cursor* raw) {
    cursor_of(raw).forget_arguments();
    delete &cursor_of(raw);
    return SQLITE_OK;
  }

  static int filter(sqlite3_vtab_cursor* raw, int, const char*, int count, sqlite3_value** values) {
    Cursor& cursor = cursor_of(raw);
    cursor.row = 0;
    cursor.forget_arguments();
    for (int i = 0; i < count; ++i) {
      auto*& copy = cursor.arguments[static_cast<std::size_t>(i)];
      copy = sqlite3_value_dup(values[i]);
      if (copy == nullptr) {
        return SQLITE_NOMEM;
      }
    }
    int code = SQLITE_OK;
    guard([&] { cursor.function.start(Values(count, values)); },
          [&](const Failure& failure) { code = report(raw->pVtab, Function::kName, failure); });
    return code;
  }

  // Only start() may throw. The callbacks below do not catch exceptions.
  static int next(sqlite3_vtab_cursor* raw) {
    static_assert(noexcept(std::declval<Function&>().next()));
    cursor_of(raw).function.next();
    ++cursor_of(raw).row;
    return SQLITE_OK;
  }

  static int eof(sqlite3_vtab_cursor* raw) { return cursor_of(raw).function.at_end() ? 1 : 0; }

  static int column(sqlite3_vtab_cursor* raw, sqlite3_context* context, int i) {
    static_assert(noexcept(std::declval<const Function&>().column(std::declval<Context&>(), i)));
    const Cursor& cursor = cursor_of(raw);
    if (i >= Function::kFirstArgument) {
      sqlite3_result_value(
          context, cursor.arguments[static_cast<std::size_t>(i - Function::kFirstArgument)]);
    } else {
      Context result(context);
      cursor.function.column(result, i);
    }
    return SQLITE_OK;
  }

  static int rowid(sqlite3_vtab_cursor* raw, sqlite3_int64* out) {
    *out = cursor_of(raw).row;
    return SQLITE_OK;
  }

  static Cursor& cursor_of(sqlite3_vtab_cursor* raw) { return *reinterpret_cast<Cursor*>(raw); }

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
