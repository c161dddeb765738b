#include "sql/vtab/list_collations.h"

#include <algorithm>
#include <memory>

namespace bloom {
namespace {

// Returns the collation of the first column of a key in a program, which SQLite writes as
// k(2,-N.NOCASE,B): - for DESC, N. for NULLS LAST, and B for BINARY. Returns "" for BINARY, and if
// there is no collation.
std::string_view first_collation(std::string_view key) {
  const std::size_t comma = key.find(',');
  if (!key.starts_with("k(") || comma == std::string_view::npos) {
    return "";
  }
  key = key.substr(comma + 1);
  key = key.substr(0, key.find_first_of(",)"));
  for (const std::string_view prefix : {"-", "N."}) {
    key.remove_prefix(key.starts_with(prefix) ? prefix.size() : 0);
  }
  return key == "B" ? "" : key;
}

// Appends the collations of the lists in the program of a statement. A list is a table of one
// column in memory, or an index that another query has as well. Returns false if the program cannot
// be read.
bool append_collations(sqlite3* db, const char* sql, std::vector<std::string>& found) {
  enum { kOpcode = 1, kP2 = 3, kP4 = 5 };
  constexpr int kColumnsOfSorter = 3;  // or more: it has the key, a number and the row
  sqlite3_stmt* raw = nullptr;
  if (sql == nullptr || sqlite3_prepare_v2(db, (std::string("EXPLAIN ") + sql).c_str(), -1, &raw,
                                           nullptr) != SQLITE_OK) {
    return false;
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> program(raw, sqlite3_finalize);
  const auto text = [&](int column) {
    const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw, column));
    return std::string_view(bytes == nullptr ? "" : bytes);
  };
  int code = SQLITE_OK;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    const std::string opcode(text(kOpcode));
    const bool may_be_list =
        opcode == "OpenRead" || opcode == "ReopenIdx" || opcode == "OpenWrite" ||
        (opcode == "OpenEphemeral" && sqlite3_column_int(raw, kP2) < kColumnsOfSorter);
    const std::string_view collation = may_be_list ? first_collation(text(kP4)) : "";
    if (!collation.empty()) {
      found.emplace_back(collation);
    }
  }
  return code == SQLITE_DONE;
}

}  // namespace

bool ListCollations::are_within(std::string_view collation) {
  read();
  return is_known_ && std::all_of(found_.begin(), found_.end(), [&](const std::string& each) {
           return sqlite3_stricmp(each.c_str(), std::string(collation).c_str()) == 0;
         });
}

// Explaining a statement prepares it, so the result is stored last.
void ListCollations::read() {
  std::string statements;
  std::vector<const char*> running;
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(db_, statement)) != nullptr) {
    if (sqlite3_stmt_busy(statement) != 0) {
      const char* const sql = sqlite3_sql(statement);
      running.push_back(sql);
      statements.append(sql == nullptr ? "" : sql).append(1, '\0');
    }
  }
  if (statements_ == statements) {
    return;
  }
  found_.clear();
  is_known_ = std::all_of(running.begin(), running.end(),
                          [&](const char* sql) { return append_collations(db_, sql, found_); });
  statements_ = std::move(statements);
}

}  // namespace bloom
