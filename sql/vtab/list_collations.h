// Finds out by which collations the running statements compare columns of virtual tables with lists
// (x IN ...). sqlite3_vtab_collation() ignores the right side, as in
// x IN (SELECT y COLLATE NOCASE FROM t).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/sqlite/api.h"
#include "sql/vtab/key_constraint.h"

namespace bloom {

class ListCollations {
 public:
  explicit ListCollations(sqlite3* db) : db_(db) {}
  // Call whenever a statement that uses the table is prepared.
  void statement_was_prepared() { statements_.reset(); }
  // Returns whether no list is compared by another collation than BINARY and this one. Explains the
  // programs of the running statements, and remembers the result until other statements run.
  bool are_within(std::string_view collation) { return other_than(collation).empty(); }
  // Returns the name of another collation than BINARY and this one by which a list is compared; ""
  // for none. If a program cannot be read, returns words that say so.
  std::string other_than(std::string_view collation);

 private:
  void read();

  sqlite3* db_;
  std::optional<std::string> statements_;  // the SQL that the result is for
  bool is_known_ = false;                  // whether all programs could be read
  std::vector<std::string> found_;         // without BINARY
};

// What a cursor has checked of the lists of its statement.
class ListCheck {
 public:
  // Returns the name of another collation than BINARY and that of the lists of a plan (see
  // key_constraint.h) by which a list is compared; "" for none. Looks once.
  std::string other_collation(ListCollations& collations, int plan) {
    const ListCollation lists = lists_of_plan(plan);
    return !lists || std::exchange(is_done_, true) ? "" : collations.other_than(name_of(*lists));
  }

 private:
  bool is_done_ = false;
};

}  // namespace bloom
