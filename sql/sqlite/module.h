// Registers a module of writable virtual tables that take part in transactions. A table is a class:
//   class Words {
//    public:
//     static constexpr char kModule[] = "words";
//     using Shared = ...;               // one object for all tables of a connection
//     Words(const Definition&, Shared&);
//     sqlite3* db() const noexcept;
//     const char* name() const noexcept;  // the current name of the table
//     const char* columns() const;      // CREATE TABLE x(...), for sqlite3_declare_vtab()
//     static bool is_shadow(std::string_view suffix) noexcept;  // xShadowName
//
//     void create();                    // xCreate: CREATE VIRTUAL TABLE; also begins a transaction
//     void connect();                   // xConnect: opens a table that already exists
//     void rename(const char* name);    // xRename
//     void destroy();                   // xDestroy: DROP TABLE
//
//     int best_index(sqlite3_index_info&);  // xBestIndex
//     class Cursor {                    // xOpen, xClose
//      public:
//       explicit Cursor(Words&);
//       // xFilter, with idxNum, idxStr and argv:
//       void start(int plan, const char* idx_string, const Values&);
//       void next();                      // xNext
//       bool at_end() const noexcept;     // xEof
//       void column(sqlite3_context*, int i);  // xColumn
//       std::int64_t rowid() const noexcept;  // xRowid; only if columns() are not WITHOUT ROWID
//     };
//     // xFindFunction; optional. Returns a function of two arguments, or null.
//     static const ScalarFunction* find_function(int arguments, const char* name) noexcept;
//     int update(const Values&);        // xUpdate. Returns SQLITE_OK, or SQLITE_CONSTRAINT: SQLite
//                                       // then skips the row under OR IGNORE
//     int code_to_report(int code) noexcept;  // called after update() has thrown
//     void check_integrity();           // xIntegrity: throws SqliteError(SQLITE_CORRUPT_VTAB)
//
//     void begin(), sync(), committed(), rolled_back();  // xBegin, xSync, xCommit, xRollback
//     void savepoint(int), released(int), rolled_back_to(int);
//                                       // xSavepoint, xRelease, xRollbackTo
//   };
// The concept VirtualTable checks this, apart from kModule and the optional functions.
//
// SQLite calls these functions in the following order. It may call best_index(), check_integrity()
// and the cursor functions at any time in between:
//   (create change* ending? | connect) (begin change* ending | rename)* (begin change*)? destroy?
//   change = update | rename | savepoint | released | rolled_back_to
//   ending = sync committed | sync? rolled_back
// It reports an ending unless destroy() was called in the transaction.
//
// A table must be prepared for the following. The reasons are in SQLite's source:
// sqlite3VtabBegin(), sqlite3VtabSavepoint() and sqlite3Close().
// - Savepoints are numbered by depth. SQLite reports a savepoint to one table after another, and
//   stops at the first table that fails. rolled_back_to(n) and released(n) may then be called
//   without savepoint(n).
// - After create(), SQLite calls no begin(), and does not report the savepoints that are already
//   open. A later savepoint(n) means that the savepoints below n are open, too.
// - sqlite3_close() calls rolled_back() before it checks whether it must refuse. If it refuses, the
//   transaction stays open, and begin() may be called again in it.
// - When SQLite reloads the schema, it may make a second object of a table. The first object still
//   gets calls up to the end of its transaction. Prepared statements keep it alive longer.
// - Any program can write to the shadow tables directly, in transactions that are not reported.
//
// Every function that is not noexcept may throw: the statement then fails with "<name>: <what>",
// or while a table is opened with "<kModule>: <what>".
// For destroy(), savepoint(), released() and rolled_back_to(), SQLite uses its own message for the
// code. It ignores what committed() and rolled_back() throw. If released() throws at the end of a
// statement's own savepoint, SQLite also rolls back the whole transaction. Within a transaction, a
// failed update() is not undone if it was the only row of its statement.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sql/sqlite/api.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

// The parts of CREATE VIRTUAL TABLE schema.table USING module(arguments).
struct Definition {
  sqlite3* db;
  const char* schema;
  const char* table;
  std::span<const char* const> arguments;  // as written in the statement
  const sqlite3_vtab* vtab = nullptr;      // the object as SQLite knows it
};

template <typename Cursor, typename Table>
concept VirtualTableCursor = std::constructible_from<Cursor, Table&> &&
    requires(Cursor cursor, const Cursor& row, int i, const char* idx_string, const Values& values,
             sqlite3_context* context) {
  cursor.start(i, idx_string, values);
  cursor.next();
  { row.at_end() } -> std::same_as<bool>;
  cursor.column(context, i);
  requires noexcept(row.at_end());
};

template <typename Table>
concept VirtualTable = VirtualTableCursor<typename Table::Cursor, Table> &&
    std::constructible_from<Table, const Definition&, typename Table::Shared&> &&
    requires(Table table, const Table& opened, sqlite3_index_info& info, const Values& values,
             const char* text, std::string_view suffix, int i) {
  { opened.db() } -> std::same_as<sqlite3*>;
  { opened.name() } -> std::same_as<const char*>;
  { opened.columns() } -> std::same_as<const char*>;
  { Table::is_shadow(suffix) } -> std::same_as<bool>;
  table.create();
  table.connect();
  table.rename(text);
  table.destroy();
  { table.best_index(info) } -> std::same_as<int>;
  { table.update(values) } -> std::same_as<int>;
  { table.code_to_report(i) } -> std::same_as<int>;
  table.check_integrity();
  table.begin();
  table.savepoint(i);
  table.released(i);
  table.rolled_back_to(i);
  table.sync();
  table.committed();
  table.rolled_back();
  requires noexcept(opened.db());
  requires noexcept(opened.name());
  requires noexcept(Table::is_shadow(suffix));
  requires noexcept(table.code_to_report(i));
};

template <VirtualTable Table>
class Module {
 public:
  // Throws SqliteError if SQLite refuses the module.
  static void add(sqlite3* db) {
    // SQLite takes ownership: it calls the destructor also if the registration fails.
    require_ok(
        db, sqlite3_create_module_v2(db, Table::kModule, &kModule.base, new Shared,
                                     [](void* shared) { release(static_cast<Shared*>(shared)); }));
  }

 private:
  // Lives while the module is registered or one of its tables exists. An application can replace a
  // module while its tables are in a transaction.
  struct Shared {
    typename Table::Shared value;
    int users = 1;
  };
  static void release(Shared* shared) {
    if (--shared->users == 0) {
      delete shared;
    }
  }
  class SharedReference {
   public:
    explicit SharedReference(Shared* shared) : shared_(shared) { ++shared_->users; }
    SharedReference(const SharedReference&) = delete;
    SharedReference& operator=(const SharedReference&) = delete;
    ~SharedReference() { release(shared_); }
    typename Table::Shared& value() const { return shared_->value; }

   private:
    Shared* shared_;
  };

  struct Vtab : sqlite3_vtab {
    Vtab(const Definition& definition, Shared* raw)
        : sqlite3_vtab{},
          shared(raw),
          schema(definition.schema),
          table({definition.db, definition.schema, definition.table, definition.arguments, this},
                shared.value()) {}
    Vtab(const Vtab&) = delete;
    Vtab& operator=(const Vtab&) = delete;
    // SQLite does not take over the error message of a failed xDestroy, so it is freed here.
    ~Vtab() { sqlite3_free(zErrMsg); }
    SharedReference shared;  // declared first: outlives the table
    std::string schema;
    Table table;
  };
  struct VtabCursor : sqlite3_vtab_cursor {
    explicit VtabCursor(Table& table) : sqlite3_vtab_cursor{}, cursor(table) {}
    typename Table::Cursor cursor;
  };

  static Table& table_of(sqlite3_vtab* raw) noexcept { return static_cast<Vtab*>(raw)->table; }
  static typename Table::Cursor& cursor_of(sqlite3_vtab_cursor* raw) noexcept {
    return static_cast<VtabCursor*>(raw)->cursor;
  }

  // Damage may be only apparent: an authorizer may hide what seems to be missing. Hosts act on the
  // code for damage, so it is reported only if no authorizer hides a table.
  static int report(sqlite3_vtab* raw, const Failure& failure) noexcept {
    const char* const name = table_of(raw).name();
    int code = report_error(raw, name, failure);
    if (failure.code == SQLITE_CORRUPT_VTAB) {
      guard([&] { require_readable_tables(raw); },
            [&](const Failure& hidden) { code = report_error(raw, name, hidden); });
    }
    return code;
  }
  static void require_readable_tables(sqlite3_vtab* raw) {
    const Table& table = table_of(raw);
    const std::string& schema = static_cast<Vtab*>(raw)->schema;
    require_readable(table.db(), schema, "sqlite_master");
    const std::string prefix = std::string(table.name()) + "_";
    for (const std::string& each : tables_named(table.db(), schema, prefix)) {
      require_readable(table.db(), schema, each);
    }
  }

  // Runs method(table). Reports an exception as an error of the table. Returns an SQLite result
  // code.
  template <typename Method>
  static int call(sqlite3_vtab* raw, Method&& method) {
    int code = SQLITE_OK;
    guard([&] { method(table_of(raw)); },
          [&](const Failure& failure) { code = report(raw, failure); });
    return code;
  }

  template <bool is_new>
  static int open_table(sqlite3* db, void* shared, int count, const char* const* arguments,
                        sqlite3_vtab** out, char** message) {
    constexpr int kFirst = 3;  // after the names of the module, schema and table
    const Definition definition{
        db, arguments[1], arguments[2],
        std::span(arguments + kFirst, static_cast<std::size_t>(count - kFirst))};
    return guard_with_message(Table::kModule, message, [&] {
      auto vtab = std::make_unique<Vtab>(definition, static_cast<Shared*>(shared));
      require_ok(db, sqlite3_declare_vtab(db, vtab->table.columns()));
      require_ok(db, sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS));
      require_ok(db, sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1));
      is_new ? vtab->table.create() : vtab->table.connect();
      *out = vtab.release();
    });
  }

  static int best_index(sqlite3_vtab* raw, sqlite3_index_info* info) {
    int code = SQLITE_OK;
    const int thrown = call(raw, [&](Table& table) { code = table.best_index(*info); });
    return thrown == SQLITE_OK ? code : thrown;
  }
  static int disconnect(sqlite3_vtab* raw) {
    delete static_cast<Vtab*>(raw);
    return SQLITE_OK;
  }
  static int destroy(sqlite3_vtab* raw) {
    const int code = call(raw, [](Table& table) { table.destroy(); });
    return code == SQLITE_OK ? disconnect(raw) : code;
  }

  static int open(sqlite3_vtab* raw, sqlite3_vtab_cursor** out) {
    return call(raw, [&](Table& table) { *out = new VtabCursor(table); });
  }
  static int close(sqlite3_vtab_cursor* raw) {
    delete static_cast<VtabCursor*>(raw);
    return SQLITE_OK;
  }
  static int filter(sqlite3_vtab_cursor* raw, int plan, const char* idx_string, int count,
                    sqlite3_value** values) {
    return call(raw->pVtab,
                [&](Table&) { cursor_of(raw).start(plan, idx_string, Values(count, values)); });
  }
  static int next(sqlite3_vtab_cursor* raw) {
    return call(raw->pVtab, [&](Table&) { cursor_of(raw).next(); });
  }
  static int eof(sqlite3_vtab_cursor* raw) { return cursor_of(raw).at_end() ? 1 : 0; }
  static int column(sqlite3_vtab_cursor* raw, sqlite3_context* context, int i) {
    return call(raw->pVtab, [&](Table&) { cursor_of(raw).column(context, i); });
  }

  template <typename Cursor>
  static constexpr void set_rowid(sqlite3_module& base) {
    if constexpr (requires(const Cursor& cursor) { cursor.rowid(); }) {
      base.xRowid = [](sqlite3_vtab_cursor* raw, sqlite3_int64* rowid) {
        *rowid = cursor_of(raw).rowid();
        return SQLITE_OK;
      };
    }
  }
  template <typename AnyTable>
  static constexpr void set_find_function(sqlite3_module& base) {
    if constexpr (requires { AnyTable::find_function(0, ""); }) {
      base.xFindFunction = [](sqlite3_vtab*, int arguments, const char* name, ScalarBody* body,
                              void** data) {
        const ScalarFunction* const function = AnyTable::find_function(arguments, name);
        if (function == nullptr) {
          return 0;
        }
        *body = call_function;
        *data = const_cast<ScalarFunction*>(function);
        return 1;
      };
    }
  }
  using ScalarBody = void (*)(sqlite3_context*, int, sqlite3_value**);

  static int update(sqlite3_vtab* raw, int count, sqlite3_value** values, sqlite3_int64* rowid) {
    int code = SQLITE_OK;
    const int thrown = call(raw, [&](Table& table) { code = table.update(Values(count, values)); });
    // SQLite sets last_insert_rowid() to this. A table WITHOUT ROWID must not change it.
    *rowid = sqlite3_last_insert_rowid(table_of(raw).db());
    return thrown == SQLITE_OK ? code : table_of(raw).code_to_report(thrown);
  }

  static int begin(sqlite3_vtab* raw) {
    return call(raw, [](Table& table) { table.begin(); });
  }
  static int sync(sqlite3_vtab* raw) {
    return call(raw, [](Table& table) { table.sync(); });
  }
  static int commit(sqlite3_vtab* raw) {
    return call(raw, [](Table& table) { table.committed(); });
  }
  static int rollback(sqlite3_vtab* raw) {
    return call(raw, [](Table& table) { table.rolled_back(); });
  }
  static int savepoint(sqlite3_vtab* raw, int number) {
    return call(raw, [&](Table& table) { table.savepoint(number); });
  }
  static int release_savepoint(sqlite3_vtab* raw, int number) {
    return call(raw, [&](Table& table) { table.released(number); });
  }
  static int rollback_to(sqlite3_vtab* raw, int number) {
    return call(raw, [&](Table& table) { table.rolled_back_to(number); });
  }

  static int rename(sqlite3_vtab* raw, const char* name) {
    return call(raw, [&](Table& table) { table.rename(name); });
  }
  static int shadow_name(const char* suffix) {
    return Table::is_shadow(std::string_view(suffix)) ? 1 : 0;
  }

  static int integrity(sqlite3_vtab* raw, const char*, const char*, int, char** problem) {
    int code = SQLITE_OK;
    guard([&] { table_of(raw).check_integrity(); },
          [&](const Failure& failure) {
            code = report(raw, failure);
            if (code == SQLITE_CORRUPT_VTAB) {
              std::swap(*problem, raw->zErrMsg);
              code = SQLITE_OK;
            }
          });
    return code;
  }

  // Version 4 of sqlite3_module, for SQLite 3.44 and later. Headers of older versions lack the last
  // member, so it is appended here.
  struct ModuleV4 {
    sqlite3_module base;
    int (*integrity)(sqlite3_vtab*, const char*, const char*, int, char**);
  };
  template <typename Base>
  static constexpr void set_integrity(Base& base) {
    if constexpr (requires { base.xIntegrity; }) {
      base.xIntegrity = integrity;
    }
  }

  static constexpr ModuleV4 make_module() {
    ModuleV4 module{};
    module.base.iVersion = 4;
    module.base.xCreate = open_table<true>;
    module.base.xConnect = open_table<false>;
    module.base.xBestIndex = best_index;
    module.base.xDisconnect = disconnect;
    module.base.xDestroy = destroy;
    module.base.xOpen = open;
    module.base.xClose = close;
    module.base.xFilter = filter;
    module.base.xNext = next;
    module.base.xEof = eof;
    module.base.xColumn = column;
    module.base.xRowid = nullptr;  // for tables that are WITHOUT ROWID
    set_rowid<typename Table::Cursor>(module.base);
    module.base.xUpdate = update;
    module.base.xBegin = begin;
    module.base.xSync = sync;
    module.base.xCommit = commit;
    module.base.xRollback = rollback;
    module.base.xFindFunction = nullptr;
    set_find_function<Table>(module.base);
    module.base.xRename = rename;
    module.base.xSavepoint = savepoint;
    module.base.xRelease = release_savepoint;
    module.base.xRollbackTo = rollback_to;
    module.base.xShadowName = shadow_name;
    module.integrity = integrity;
    set_integrity(module.base);
    return module;
  }
  static constexpr ModuleV4 kModule = make_module();
};

}  // namespace bloom::sqlite
