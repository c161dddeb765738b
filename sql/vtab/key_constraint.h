// The conditions that a query has on the columns of a virtual table, and which of them a plan uses.
#pragma once

#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

inline constexpr std::string_view kUnsupportedCollationPrefix = "refused: collation ";

// `op`: as in sqlite3_index_info.
inline bool is_equality(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}

// The condition key = ?, key IS ? or key IN (...) that a plan uses. If the query has both a list
// and key = ? of the same collation, key = ? is used, and SQLite checks the list.
struct KeyConstraint {
  int index = -1;  // in aConstraint; -1 if no condition can be used in this join order
  Collation collation = Collation::binary;  // of the comparison
  // Whether the condition may be key IN (...): see may_be_list() below. `collation` may then be
  // wrong: see ListCollations.
  bool may_be_list = false;
  // Whether some condition on the key takes its value from a table that comes later in this join
  // order.
  bool comes_later = false;
  // Whether the condition is key IN (...), although another join order would allow key = c, where c
  // is a column of another table. The plan should then cost much, so that SQLite prefers that
  // order: the list may be a whole table, and the other table would be searched once for each key
  // of it.
  bool list_displaces_join = false;
  // The collation of a condition that the filter does not support; null if there is none.
  const char* unsupported_collation = nullptr;
};
// Returns the condition to use on the key, which is this column. `own` is the collation of the
// filter. The filter also supports BINARY comparisons: keys that are equal byte for byte are equal
// under any collation.
KeyConstraint choose_key_constraint(sqlite3_index_info& info, int column, Collation own);
// Added to the number of a plan in idxNum if it looks keys up from lists.
inline constexpr int kFromLists = 10;

// Returns the index in aConstraint of a usable condition that compares this column by = or IS; -1
// for none.
int equality_on(const sqlite3_index_info& info, int column);
// Sets idxStr to a copy of the text. Throws std::bad_alloc.
void set_plan_text(sqlite3_index_info& info, const std::string& text);
// Sets idxStr to kUnsupportedCollationPrefix, followed by the collation. Throws std::bad_alloc.
void name_unsupported_collation(sqlite3_index_info& info, const char* collation);

// Returns whether the condition may be column IN (...), which SQLite offers as column = ?. Before
// 3.38, SQLite does not tell, and this returns false.
bool may_be_list(sqlite3_index_info& info, int constraint);
// How a plan can use a condition that SQLite offers as column = ?.
enum class ListUse {
  none,  // it is no list, as far as SQLite tells: before 3.38 it does not
  list,  // column IN (...): SQLite will pass all values at once, see Value::for_each_in_list()
  maybe_list,  // SQLite tells of the first 32 conditions only
};
// Makes SQLite pass the values of column IN (...) all at once. SQLite then checks the rows by the
// condition IN as the user wrote it. If it passed the values one by one, it would check column =
// value, without the affinity and the collation of the right side, and lose rows. Requires: the
// plan uses a condition for which this returns `list`.
ListUse take_as_list(sqlite3_index_info& info, int constraint);
// Returns whether a condition compares this column by = or IS. It need not be usable.
bool is_compared(const sqlite3_index_info& info, int column);
// Returns the index of a usable condition that tests this column by IS NULL; -1 for none.
int null_test_on(const sqlite3_index_info& info, int column);

}  // namespace bloom
