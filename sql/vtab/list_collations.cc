#include "sql/vtab/list_collations.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/hidden_type.h"

namespace bloom {
namespace {

// Returns the collation of column i of a key in a program, which SQLite writes as k(2,NOCASE,B),
// with B for BINARY. Returns "" for BINARY, and if there is no collation. A name may have a comma
// in it, and old versions of SQLite shorten the text: then returns all of it.
std::string collation_in(const std::string& key, int i) {
  constexpr std::string_view kBegin = "k(";
  if (!key.starts_with(kBegin)) {
    return "";
  }
  int columns = 0;
  std::from_chars(key.data() + kBegin.size(), key.data() + key.size(), columns);
  if (std::count(key.begin(), key.end(), ',') != columns || i >= columns || !key.ends_with(')')) {
    return key;
  }
  std::size_t begin = 0;
  for (int comma = 0; comma <= i; ++comma) {
    begin = key.find(',', begin) + 1;
  }
  const std::string name =
      key.substr(begin, std::min(key.find(',', begin), key.size() - 1) - begin);
  return name == "B" ? "" : name;
}

// The columns of virtual tables that registers hold, for an instruction that follows at once. Other
// instructions that write to registers are rarer: after them, a register seems to hold a column.
class Registers {
 public:
  void add(std::string_view opcode, int p1, int p2, int p3) {
    if (opcode == "VColumn") {
      columns_[p3] = {p1, p2};
    } else if (opcode == "Column" || opcode == "Concat" || opcode == "Function") {
      columns_.erase(p3);
    } else if (opcode == "Rowid" || opcode == "String8" || opcode == "Integer" ||
               opcode == "Variable") {
      columns_.erase(p2);
    } else if (opcode == "Copy" || opcode == "SCopy") {
      for (int i = 0; i <= (opcode == "Copy" ? p3 : 0); ++i) {
        const auto column = column_in(p1 + i);
        columns_.erase(p2 + i);
        if (column) {
          columns_[p2 + i] = *column;
        }
      }
    }
  }
  struct Column {
    int cursor;
    int number;
  };
  // Returns nullopt if the register holds something else.
  std::optional<Column> column_in(int value) const {
    const auto found = columns_.find(value);
    return found == columns_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<int, Column> columns_;
};

// The instructions of a program that say from where virtual tables get the values of conditions.
class Program {
 public:
  // `vtab`: the table in question, as programs name it.
  explicit Program(std::string vtab) : vtab_(std::move(vtab)) {}

  void add(std::string_view opcode, int p1, int p2, int p3, const std::string& p4) {
    registers_.add(opcode, p1, p2, p3);
    if (opcode == "OpenDup") {
      copies_.emplace_back(p1, p2);
    } else if (opcode == "OpenEphemeral") {
      opened_.emplace_back(p1, p4);
    } else if (opcode == "VOpen") {
      tables_.emplace_back(p1, p4);
    } else if (opcode == "VInitIn") {
      passed_.emplace_back(p1, p2);
    } else if (opcode == "Column") {
      columns_.emplace_back(p1, p3);
    } else if (opcode == "Integer") {
      integers_.emplace_back(p1, p2);
    } else if (opcode == "VFilter") {
      arguments_.emplace_back(p1, p3 + 1);
      plans_.push_back(p4);
    } else if (opcode == "VColumn") {
      values_.emplace_back(p1, p3);
    } else if (opcode == "Eq" || opcode == "Ne") {
      compared_.push_back({p1, p3, p4.substr(0, p4.rfind('-'))});
    } else if (opcode == "NotFound") {
      add_checked_list(p1, p3, std::atoi(p4.c_str()));
    }
  }

  // The texts of all plans of virtual tables.
  const std::vector<std::string>& plans() const { return plans_; }

  // Appends the collations of the cursors that hold lists. SQLite passes a list at once, by
  // VInitIn, or copies its values into the arguments of VFilter one by one, or looks the column of
  // the table up in the list itself, by NotFound. A list that has a collation of its own is a table
  // in memory; one that is needed in two places is copied. Subprograms use the same numbers again,
  // so all instructions with a number count.
  //
  // SQLite makes a list of x = y OR x = z, and ignores the collation of these comparisons. They
  // are in the program, unless the table checks the list itself.
  void append_collations(std::vector<ListCollations::ComparedValues>& found) {
    for (const auto& [cursor, target] : passed_) {
      add_passed_list(cursor, target, ListCollations::kAnyArgument);
    }
    for (const auto& [cursor, target] : columns_) {
      add_passed_list(cursor, target, ListCollations::kNoArgument);
    }
    std::erase_if(lists_, [&](const Use& list) {
      return list.column != ListCollations::kNoColumn && !is_of_table(list.table_cursor);
    });
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      for (const auto& [copy, original] : copies_) {
        Use same = lists_[i];
        same.cursor = original;
        if (copy == lists_[i].cursor &&
            std::find(lists_.begin(), lists_.end(), same) == lists_.end()) {
          lists_.push_back(same);
        }
      }
    }
    for (const Comparison& each : compared_) {
      const auto is_operand = [&](const auto& value) {
        return (value.second == each.left || value.second == each.right) &&
               is_of_table(value.first);
      };
      if (!each.collation.empty() && each.collation != "BINARY" &&
          std::any_of(values_.begin(), values_.end(), is_operand)) {
        found.push_back({each.collation, ListCollations::kNoArgument, ListCollations::kNoColumn});
      }
    }
    for (const auto& [cursor, key] : opened_) {
      for (const Use& list : lists_) {
        const std::string collation = list.cursor == cursor ? collation_in(key, list.place) : "";
        if (!collation.empty()) {
          found.push_back({collation, list.argument, list.column});
        }
      }
    }
  }

 private:
  // Subprograms use the numbers of cursors again. If no cursor is of the table, all count.
  bool is_of_table(int cursor) const {
    const auto names_table = [&](const auto& open) { return open.second == vtab_; };
    return std::none_of(tables_.begin(), tables_.end(), names_table) ||
           std::any_of(tables_.begin(), tables_.end(),
                       [&](const auto& open) { return open.first == cursor && names_table(open); });
  }

  // `target`: the register that gets the list or its values. `otherwise`: the argument if the
  // register is none of any xFilter.
  void add_passed_list(int cursor, int target, int otherwise) {
    bool is_argument = false;
    for (const auto& [table_cursor, count] : arguments_) {
      if (target > count && target <= count + most_arguments(count)) {
        is_argument = true;
        if (is_of_table(table_cursor)) {
          lists_.push_back({cursor, 0, target - count - 1});
        }
      }
    }
    if (!is_argument && otherwise != ListCollations::kNoArgument) {
      lists_.push_back({cursor, 0, otherwise});
    }
  }

  // `first`: the register of the first of `count` values that are looked up.
  void add_checked_list(int cursor, int first, int count) {
    for (int i = 0; i < count; ++i) {
      if (const auto column = registers_.column_in(first + i)) {
        lists_.push_back({cursor, i, ListCollations::kNoArgument, column->number, column->cursor});
      }
    }
  }

  // `count`: the register of argc. argv follows.
  int most_arguments(int count) const {
    int most = 0;
    for (const auto& [value, target] : integers_) {
      most = target == count ? std::max(most, value) : most;
    }
    return most;
  }

  struct Use {
    int cursor;
    int place;     // of the column in the list, from 0
    int argument;  // as in ListCollations::ComparedValues
    int column = ListCollations::kNoColumn;
    int table_cursor = 0;  // of the column

    bool operator==(const Use&) const = default;
  };
  struct Comparison {
    int left;  // register
    int right;
    std::string collation;
  };
  std::string vtab_;
  Registers registers_;
  std::vector<Comparison> compared_;
  std::vector<std::string> plans_;
  std::vector<std::pair<int, std::string>> tables_;  // cursor, virtual table
  std::vector<std::pair<int, int>> values_;          // cursor of a virtual table, register
  std::vector<std::pair<int, std::string>> opened_;  // cursor, its key
  std::vector<std::pair<int, int>> copies_;          // cursor, of which cursor
  std::vector<std::pair<int, int>> columns_;         // cursor, register
  std::vector<std::pair<int, int>> integers_;        // value, register
  std::vector<std::pair<int, int>> arguments_;       // cursor of a virtual table, register of argc
  std::vector<std::pair<int, int>> passed_;          // cursor, register
  std::vector<Use> lists_;
};

// A failure that says nothing about the statement must not be remembered.
bool is_readable(sqlite3* db, int code, int wanted) {
  const int primary = code & 0xff;
  if (primary == SQLITE_INTERRUPT || primary == SQLITE_NOMEM) {
    throw sqlite::SqliteError(primary, sqlite3_errmsg(db));
  }
  return code == wanted;
}

// Appends the collations of the lists in the program of a statement, and the plans. Returns false
// if the program cannot be read.
bool append_collations(sqlite3* db, const char* sql, const std::string& vtab,
                       std::vector<ListCollations::ComparedValues>& found,
                       std::vector<std::string>& plans) {
  enum { kOpcode = 1, kP1, kP2, kP3, kP4 };
  sqlite3_stmt* raw = nullptr;
  if (sql == nullptr ||
      !is_readable(db, sqlite3_prepare_v2(db, sqlite::explain(sql).c_str(), -1, &raw, nullptr),
                   SQLITE_OK)) {
    return false;
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  const auto text = [&](int column) {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw, column));
    return std::string(bytes == nullptr ? "" : bytes);
  };
  Program program(vtab);
  int code = SQLITE_OK;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    program.add(text(kOpcode), sqlite3_column_int(raw, kP1), sqlite3_column_int(raw, kP2),
                sqlite3_column_int(raw, kP3), text(kP4));
  }
  program.append_collations(found);
  plans.insert(plans.end(), program.plans().begin(), program.plans().end());
  return is_readable(db, code, SQLITE_DONE);
}

// Returns whether a running statement may look something up. EXPLAIN and PRAGMA do not, nor does a
// handle for a blob. Such a handle has no SQL, and neither has a statement of sqlite3_prepare() of
// old.
bool may_look_up(sqlite3_stmt* statement, const char* sql) {
  return sqlite3_stmt_isexplain(statement) == 0 && (sql == nullptr || !sqlite::is_pragma(sql)) &&
         (sql != nullptr || sqlite3_column_count(statement) != 0 ||
          sqlite3_stmt_readonly(statement) == 0);
}

}  // namespace

std::string ListCollations::find_other_collation(std::string_view collation, int argument,
                                                 int column) {
  read();
  if (!is_known_) {
    return "of a list while a blob is open for writing or the schema of a running query has "
           "changed";
  }
  const auto other = std::find_if(found_.begin(), found_.end(), [&](const ComparedValues& each) {
    return (argument == kAnyArgument || each.argument == kAnyArgument ||
            each.argument == argument || (each.column != kNoColumn && each.column == column)) &&
           sqlite3_stricmp(without_alias(each.collation.c_str()), std::string(collation).c_str()) !=
               0;
  });
  return other == found_.end() ? "" : other->collation;
}

// Explaining a statement prepares it, so the result is stored last.
void ListCollations::read() {
  std::string statements;
  std::vector<const char*> running;
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db_, statement)) != nullptr) {
    const char* const sql = sqlite3_sql(statement);
    if (sqlite3_stmt_busy(statement) != 0 && may_look_up(statement, sql)) {
      running.push_back(sql);
      statements.append(sql == nullptr ? "" : sql).append(1, '\0');
    }
  }
  if (statements_ == statements) {
    return;
  }
  statements_.reset();
  found_.clear();
  plans_.clear();
  const std::unique_ptr<char, void (*)(void*)> vtab(
      sqlite3_mprintf("vtab:%p", static_cast<const void*>(vtab_)), sqlite3_free);
  if (!vtab) {
    throw std::bad_alloc();
  }
  is_known_ = std::all_of(running.begin(), running.end(), [&](const char* sql) {
    return append_collations(db_, sql, vtab.get(), found_, plans_);
  });
  statements_ = std::move(statements);
}

}  // namespace bloom
