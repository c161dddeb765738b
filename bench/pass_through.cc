// A virtual table that returns the rows of one statement on an ordinary table and does nothing
// else: the floor for a table that returns the rows of another.
//   CREATE VIRTUAL TABLE p USING passed(t)
// Columns, types and rowids are those of t. An equality on a column is part of the statement.

#include "bench/pass_through.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sql/sqlite/api.h"

SQLITE_EXTENSION_INIT3

namespace {

struct Table {
  sqlite3_vtab base;
  sqlite3* db;
  std::string source;
  std::vector<std::string> columns;
  std::vector<sqlite3_stmt*> free;  // by plan: one that no cursor uses
};

struct Cursor {
  sqlite3_vtab_cursor base;
  sqlite3_stmt* statement;
  int plan;
  bool at_end;
};

Table* table_of(sqlite3_vtab* base) { return reinterpret_cast<Table*>(base); }
Cursor* cursor_of(sqlite3_vtab_cursor* base) { return reinterpret_cast<Cursor*>(base); }

int connect(sqlite3* db, void*, int count, const char* const* values, sqlite3_vtab** out, char**) {
  if (count != 4) {
    return SQLITE_ERROR;
  }
  auto* table = new Table{{}, db, values[3], {}, {}};
  *out = &table->base;
  std::string declared;
  sqlite3_stmt* columns = nullptr;
  const std::string sql = "SELECT name, type FROM pragma_table_info('" + table->source + "')";
  int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &columns, nullptr);
  while (code == SQLITE_OK && sqlite3_step(columns) == SQLITE_ROW) {
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(columns, 0));
    const auto* type = reinterpret_cast<const char*>(sqlite3_column_text(columns, 1));
    table->columns.emplace_back(name);
    declared += (declared.empty() ? "" : ", ") + std::string(name) + " " + type;
  }
  sqlite3_finalize(columns);
  table->free.resize(table->columns.size() + 1);
  return code == SQLITE_OK ? sqlite3_declare_vtab(db, ("CREATE TABLE x(" + declared + ")").c_str())
                           : code;
}

int disconnect(sqlite3_vtab* base) {
  for (sqlite3_stmt* const statement : table_of(base)->free) {
    sqlite3_finalize(statement);
  }
  delete table_of(base);
  return SQLITE_OK;
}

// The plan is the number of the column with the equality, from 1; 0: a scan.
int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 1e6;
  info->estimatedRows = 1'000'000;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.usable != 0 && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
        constraint.iColumn >= 0) {
      info->aConstraintUsage[i].argvIndex = 1;
      info->idxNum = constraint.iColumn + 1;
      info->estimatedCost = 10;
      info->estimatedRows = 1;
      return SQLITE_OK;
    }
  }
  return SQLITE_OK;
}

int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = &(new Cursor{{}, nullptr, -1, true})->base;
  return SQLITE_OK;
}

// SQLite opens a cursor for each execution of a subquery.
int close(sqlite3_vtab_cursor* base) {
  Cursor* cursor = cursor_of(base);
  if (cursor->statement != nullptr) {
    sqlite3_reset(cursor->statement);
    std::swap(cursor->statement,
              table_of(base->pVtab)->free[static_cast<std::size_t>(cursor->plan)]);
    sqlite3_finalize(cursor->statement);
  }
  delete cursor;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
  Cursor* cursor = cursor_of(base);
  const int code = sqlite3_step(cursor->statement);
  cursor->at_end = code != SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int filter(sqlite3_vtab_cursor* base, int plan, const char*, int count, sqlite3_value** values) {
  Cursor* cursor = cursor_of(base);
  Table* table = table_of(base->pVtab);
  if (plan != cursor->plan) {
    sqlite3_finalize(cursor->statement);
    cursor->statement = std::exchange(table->free[static_cast<std::size_t>(plan)], nullptr);
    cursor->plan = plan;
  }
  if (cursor->statement == nullptr) {
    std::string sql = "SELECT rowid, * FROM " + table->source;
    if (plan != 0) {
      sql += " WHERE " + table->columns[static_cast<std::size_t>(plan - 1)] + " = ?1";
    }
    const int code = sqlite3_prepare_v3(table->db, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT,
                                        &cursor->statement, nullptr);
    if (code != SQLITE_OK) {
      return code;
    }
  }
  sqlite3_reset(cursor->statement);
  if (count != 0) {
    sqlite3_bind_value(cursor->statement, 1, values[0]);
  }
  return next(base);
}

int eof(sqlite3_vtab_cursor* base) { return cursor_of(base)->at_end ? 1 : 0; }

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int i) {
  sqlite3_result_value(context, sqlite3_column_value(cursor_of(base)->statement, i + 1));
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = sqlite3_column_int64(cursor_of(base)->statement, 0);
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.xCreate = connect;
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xDestroy = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = eof;
  module.xColumn = column;
  module.xRowid = rowid;
  return module;
}
constexpr sqlite3_module kModule = make_module();

}  // namespace

namespace bloom::bench {

int register_pass_through(sqlite3* db) {
  return sqlite3_create_module_v2(db, "passed", &kModule, nullptr, nullptr);
}

}  // namespace bloom::bench
