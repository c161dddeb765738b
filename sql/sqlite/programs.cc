// The functions of connection.h that read the programs of statements, as EXPLAIN shows them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"

namespace bloom::sqlite {
namespace {

// Returns the number of the schema in the programs of statements; -1 if there is no such schema.
int schema_number(sqlite3* db, const std::string& schema) {
  enum { kNumber, kName };
  const Statement list(db, "PRAGMA database_list");
  Execution run(list);
  while (run.step()) {
    if (sqlite3_stricmp(std::string(run.value(kName).text()).c_str(), schema.c_str()) == 0) {
      return static_cast<int>(run.integer(kNumber));
    }
  }
  return -1;
}

std::int64_t root_page(sqlite3* db, const std::string& schema, const std::string& table) {
  const Statement select(db,
                         "SELECT rootpage FROM " + quoted_name(schema) +
                             ".sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
  Execution run(select);
  return run.bind(1, table).step() ? run.integer(0) : 0;
}

enum class Columns { all, without_rowid };

// Returns an INSERT, a DELETE, and an UPDATE that sets the columns, if there are any. They are only
// explained. `rule` is "" or a conflict clause; DELETE has none.
std::vector<std::string> changes_of(sqlite3* db, const std::string& schema,
                                    const std::string& table, const std::string& rule,
                                    Columns set) {
  enum { kName = 1, kKeyPart = 5 };
  const std::string name = quoted_name(schema) + "." + quoted_name(table);
  const Statement info(db,
                       "PRAGMA " + quoted_name(schema) + ".table_info(" + quoted_name(table) + ")");
  std::string columns;
  for (Execution run(info); run.step();) {
    if (set == Columns::all || run.integer(kKeyPart) == 0) {
      columns.append(columns.empty() ? "" : ", ").append(quoted_name(run.value(kName).text()));
      columns.append(" = 0");
    }
  }
  const std::string where = " WHERE rowid = 1";
  std::vector<std::string> changes = {"INSERT " + rule + "INTO " + name + " DEFAULT VALUES",
                                      "DELETE FROM " + name + where};
  if (!columns.empty()) {
    changes.push_back("UPDATE " + rule + name + " SET ");
    changes.back().append(columns).append(where);
  }
  return changes;
}

// An instruction of the program of a statement.
struct Instruction {
  std::string_view opcode;
  std::int64_t p1;
  std::int64_t p2;
  std::int64_t p3;
};

// Returns whether the program of a statement, with those of its triggers, may have an instruction
// for which `is_wanted` returns true. SQLite explains the text, so names, quotes and aliases do not
// matter. A PRAGMA has no such instruction.
template <typename F>
bool may_have_instruction(sqlite3* db, const char* sql, F&& is_wanted) {
  enum { kOpcode = 1, kP1 = 2, kP2 = 3, kP3 = 4 };
  if (sql != nullptr && is_pragma(sql)) {
    return false;
  }
  sqlite3_stmt* raw = nullptr;
  if (sql == nullptr ||
      sqlite3_prepare_v2(db, explain(sql).c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    return true;
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> program(raw, sqlite3_finalize);
  int code = SQLITE_OK;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(raw, kOpcode));
    if (is_wanted(Instruction{text == nullptr ? "" : text, sqlite3_column_int64(raw, kP1),
                              sqlite3_column_int64(raw, kP2), sqlite3_column_int64(raw, kP3)})) {
      return true;
    }
  }
  return code != SQLITE_DONE;
}

// Returns whether a statement may open the b-tree for writing.
bool may_write(sqlite3* db, const char* sql, int schema, std::int64_t root) {
  return may_have_instruction(db, sql, [&](const Instruction& each) {
    return (each.opcode == "OpenWrite" && each.p2 == root && each.p3 == schema) ||
           (each.opcode == "Clear" && each.p1 == root && each.p2 == schema);
  });
}

bool is_enabled(sqlite3* db, int setting) {
  int is_on = 0;
  sqlite3_db_config(db, setting, -1, &is_on);
  return is_on != 0;
}

// Returns whether is_wanted(parent, acts on update, acts on delete) for a foreign key of the table.
template <typename F>
bool has_foreign_key(sqlite3* db, const std::string& schema, const std::string& table,
                     F&& is_wanted) {
  enum { kParent = 2, kOnUpdate = 5, kOnDelete = 6 };
  const Statement list(
      db, "PRAGMA " + quoted_name(schema) + ".foreign_key_list(" + quoted_name(table) + ")");
  Execution run(list);
  const auto acts = [&](int column) {
    const std::string_view action = run.value(column).text();
    return action != "NO ACTION" && action != "RESTRICT";
  };
  while (run.step()) {
    if (is_wanted(std::string(run.value(kParent).text()), acts(kOnUpdate), acts(kOnDelete))) {
      return true;
    }
  }
  return false;
}

// Returns whether a statement may have a LEFT JOIN that its program does not show: SQLite leaves it
// out if nothing needs the joined table. So this looks at the text, and at that of the views and
// triggers that the statement may use. `schemas`: the numbers of those that it reads. The others
// are not read, because that would lock them.
bool may_omit_left_join(sqlite3* db, std::string_view sql, bool is_readonly,
                        const std::vector<std::int64_t>& schemas) {
  // SQLite can make a LEFT JOIN of a FULL JOIN.
  const auto has_left_join = [](std::string_view text) {
    return has_keyword(text, "LEFT") || has_keyword(text, "FULL");
  };
  constexpr std::int64_t kTemp = 1;  // its views and triggers may use all others
  enum { kIsView = 0, kName = 1, kSql = 2, kNumber = 0, kSchema = 1 };
  struct View {
    std::string name;
    std::string sql;
    bool is_used;
  };
  std::vector<View> views;
  std::vector<std::string> used = {std::string(sql)};  // the SQL that may name views in use
  const Statement all_schemas(db, "PRAGMA database_list");
  for (Execution each(all_schemas); each.step();) {
    const std::int64_t number = each.integer(kNumber);
    if (number != kTemp && std::find(schemas.begin(), schemas.end(), number) == schemas.end()) {
      continue;
    }
    const Statement list(
        db, "SELECT type = 'view', name, sql FROM " + quoted_name(each.value(kSchema).text()) +
                ".sqlite_master WHERE type = 'view'" + (is_readonly ? "" : " OR type = 'trigger'"));
    for (Execution run(list); run.step();) {
      if (run.integer(kIsView) != 0) {
        views.push_back(
            {std::string(run.value(kName).text()), std::string(run.value(kSql).text()), false});
      } else {
        used.emplace_back(run.value(kSql).text());
      }
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (has_left_join(used[i])) {
      return true;
    }
    for (View& view : views) {
      const bool has_quotes = view.name.find_first_of("'\"`]") != std::string::npos;
      if (!view.is_used && (has_quotes || mentions(used[i], view.name))) {
        view.is_used = true;
        used.push_back(view.sql);
      }
    }
  }
  return false;
}

}  // namespace

bool may_be_writing_to(sqlite3* db, const std::string& schema, const std::string& table) {
  const int number = schema_number(db, schema);
  const std::int64_t root = root_page(db, schema, table);
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    if (sqlite3_stmt_busy(statement) != 0 && sqlite3_stmt_readonly(statement) == 0 &&
        may_write(db, sqlite3_sql(statement), number, root)) {
      return true;
    }
  }
  return false;
}

bool updates_others_by_foreign_key(sqlite3* db, const std::string& schema,
                                   const std::string& table) {
  if (!is_enabled(db, SQLITE_DBCONFIG_ENABLE_FKEY)) {
    return false;
  }
  const Statement tables(db, "SELECT name FROM " + quoted_name(schema) +
                                 ".sqlite_master WHERE type = 'table' AND rootpage <> 0");
  Execution run(tables);
  while (run.step()) {
    if (has_foreign_key(db, schema, std::string(run.value(0).text()),
                        [&](const std::string& parent, bool on_update, bool) {
                          return on_update && sqlite3_stricmp(parent.c_str(), table.c_str()) == 0;
                        })) {
      return true;
    }
  }
  return false;
}

// Each program begins with Init: first that of the statement, in which RAISE can only be of
// RETURNING, then those of triggers and of foreign keys.
bool running_writer_may_stop_early(sqlite3* db, bool by_foreign_key) {
  constexpr int kFail = 3;    // OE_Fail
  constexpr int kIgnore = 4;  // OE_Ignore
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    const bool is_writing =
        sqlite3_stmt_busy(statement) != 0 && sqlite3_stmt_readonly(statement) == 0;
    if (!is_writing || (sqlite3_column_count(statement) == 0 && !by_foreign_key)) {
      continue;
    }
    int programs = 0;
    if (may_have_instruction(db, sqlite3_sql(statement), [&](const Instruction& each) {
          programs += each.opcode == "Init" ? 1 : 0;
          if (each.opcode != "Halt") {
            return false;
          }
          return programs > 1 ? by_foreign_key && each.p2 == kFail
                              : each.p2 == kIgnore ||
                                    (each.p2 == kFail && each.p1 == SQLITE_CONSTRAINT_TRIGGER);
        })) {
      return true;
    }
  }
  return false;
}

std::string running_sql(sqlite3* db) {
  std::string running;
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    if (sqlite3_stmt_busy(statement) != 0) {
      const char* const sql = sqlite3_sql(statement);
      running.append(sql == nullptr ? "" : sql).append(1, '\0');
    }
  }
  return running;
}

// An outer join has NullRow for the cursor of a table, which may be in memory. The subroutine that
// makes the list of IN ends by NullRow and Return.
bool may_be_running_outer_join(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db, statement)) != nullptr) {
    const char* const sql = sqlite3_sql(statement);
    std::vector<std::int64_t> schemas;
    std::vector<std::int64_t> in_memory;
    bool may_be_list = false;
    const auto is_of_outer_join = [&](const Instruction& each) {
      if (std::exchange(may_be_list, false) && each.opcode != "Return") {
        return true;
      }
      if (each.opcode == "Transaction") {
        schemas.push_back(each.p1);
      } else if (each.opcode == "OpenEphemeral") {
        in_memory.push_back(each.p1);
      }
      may_be_list = each.opcode == "NullRow" &&
                    std::find(in_memory.begin(), in_memory.end(), each.p1) != in_memory.end();
      return each.opcode == "NullRow" && !may_be_list;
    };
    if (sqlite3_stmt_busy(statement) != 0 &&
        (may_have_instruction(db, sql, is_of_outer_join) ||
         may_omit_left_join(db, sql, sqlite3_stmt_readonly(statement) != 0, schemas))) {
      return true;
    }
  }
  return false;
}

// A statement itself opens the table for writing once. Other connections may have other settings.
bool triggers_may_write_to(sqlite3* db, const std::string& schema, const std::string& on,
                           const std::string& table) {
  const int number = schema_number(db, schema);
  const std::int64_t root = root_page(db, schema, table);
  const std::int64_t own_root = root_page(db, schema, on);
  if (!is_enabled(db, SQLITE_DBCONFIG_ENABLE_TRIGGER)) {
    return true;
  }
  // The programs of this connection do not show what foreign keys do while they are disabled.
  const bool by_foreign_key =
      !is_enabled(db, SQLITE_DBCONFIG_ENABLE_FKEY) &&
      has_foreign_key(db, schema, table, [](const std::string&, bool on_update, bool on_delete) {
        return on_update || on_delete;
      });
  for (const std::string& sql : changes_of(db, schema, on, "", Columns::all)) {
    int own = 0;
    if (may_have_instruction(db, sql.c_str(), [&](const Instruction& each) {
          const bool opens = each.opcode == "OpenWrite" && each.p3 == number;
          const bool clears = each.opcode == "Clear" && each.p2 == number;
          own += opens && each.p2 == own_root ? 1 : 0;
          return own > 1 ||
                 (opens && (each.p2 == root || (by_foreign_key && each.p2 != own_root))) ||
                 (clears && (each.p1 == root || each.p1 == own_root));
        })) {
      return true;
    }
  }
  return false;
}

// With OR FAIL, as the outer statement may have it, violated constraints also end by FAIL, and so
// do those that a virtual table reports.
bool change_may_fail_halfway(sqlite3* db, const std::string& schema, const std::string& table) {
  constexpr int kFail = 3;  // OE_Fail
  const auto changes = changes_of(db, schema, table, "OR FAIL ", Columns::without_rowid);
  return std::any_of(changes.begin(), changes.end(), [&](const std::string& sql) {
    return may_have_instruction(db, sql.c_str(), [](const Instruction& each) {
      return each.opcode == "VUpdate" ||
             ((each.opcode == "Halt" || each.opcode == "HaltIfNull") && each.p2 == kFail);
    });
  });
}

bool authorizer_hides_column(sqlite3* db, const std::string& select) {
  std::int64_t read = 0;
  const bool reads_all = may_have_instruction(db, select.c_str(), [&](const Instruction& each) {
    const bool reads =
        each.opcode == "Column" || each.opcode == "Rowid" || each.opcode == "IdxRowid";
    read += reads ? 1 : 0;
    return each.opcode == "ResultRow" && read >= each.p2;
  });
  return !reads_all;
}

}  // namespace bloom::sqlite
