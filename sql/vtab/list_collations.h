// Finds out by which collations the running statements compare columns of virtual tables with lists
// (x IN ...). sqlite3_vtab_collation() ignores the right side, as in
// x IN (SELECT y COLLATE NOCASE FROM t).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/sqlite/api.h"

namespace bloom {

class ListCollations {
 public:
  // `vtab`: the table that looks values up.
  ListCollations(sqlite3* db, const sqlite3_vtab* vtab) : db_(db), vtab_(vtab) {}
  // Call whenever a statement that uses the table is prepared.
  void statement_was_prepared() { statements_.reset(); }
  // Returns whether no list is compared by another collation than BINARY and this one. Reads the
  // programs of the running statements (EXPLAIN shows them), and remembers the result until other
  // statements run. `plan`: the idxStr of the running statement. SQLite may explain another plan
  // than it runs, after parameters were bound or the costs have changed; then returns false.
  bool all_compare_by(std::string_view collation, std::string_view plan) {
    return find_other_collation(collation, kAnyArgument, kNoColumn).empty() &&
           std::find(plans_.begin(), plans_.end(), plan) != plans_.end();
  }
  // Looks for a list that is compared by another collation than BINARY and this one. Returns that
  // collation; "" if there is none. If a program cannot be read, returns words that say so.
  //
  // If `argument` is kAnyArgument, considers all lists. Else it considers those that
  // - xFilter gets as its argument `argument` (the first is 0),
  // - xFilter gets as an argument that the program does not show, or
  // - the program itself compares with `column`, without xFilter. EXPLAIN shows this program;
  //   SQLite may run another one, which passes the list to xFilter.
  std::string find_other_collation(std::string_view collation, int argument, int column);

  // A list, or a single value, that is compared by another collation than BINARY.
  struct ComparedValues {
    std::string collation;
    // Of xFilter. kAnyArgument: the program does not tell. kNoArgument: the program itself compares
    // the list with the column.
    int argument;
    int column;  // or kNoColumn
  };
  static constexpr int kAnyArgument = -1;
  static constexpr int kNoArgument = -2;
  static constexpr int kNoColumn = -1;

 private:
  void read();

  sqlite3* db_;
  const sqlite3_vtab* vtab_;
  std::optional<std::string> statements_;  // the SQL that the result is for
  bool is_known_ = false;                  // whether all programs could be read
  std::vector<ComparedValues> found_;
  std::vector<std::string> plans_;
};

}  // namespace bloom
