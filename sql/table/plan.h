// The query plans of a bloom table: what xBestIndex offers to SQLite's planner.
#pragma once

#include <string_view>

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

// The columns of a table. All but `key` are hidden. The column for commands has the name of the
// table. It is the last one, unless the table has the name of a property: that column then takes
// the commands as well.
enum class Column : int {
  key,
  filter,
  // The properties, which are read-only.
  info,
  keys,
  fpr,
  capacity,
  bytes,
  overfull,
  layers,
  generations,
  stale,
  pending,
  lookups,
  absent,
  chunks_read,
  command,
};

enum class Plan : int {
  // key = ?: one row if the key may be present. Its `key` is the value that was looked up.
  lookup = 1,
  // As lookup, but compares with the filter's own collation, which is not BINARY.
  lookup_collated = 5,
  // Reads `filter` or properties: one row, whose `key` cannot be read.
  properties = 2,
  // The query gives no key. As many rows as the filter has keys, by estimate, so that count(*)
  // works. Reading their `key` is an error. SQLite chooses this plan only if it has no other.
  count = 3,
  // Refused: the query compares `key` with a collation that the filter does not support. The name
  // of the collation follows kUnsupportedCollationPrefix in idxStr. Running the plan is an error.
  refused_collation = 4,
};

inline constexpr std::string_view kUnsupportedCollationPrefix = "refused: collation ";

// The condition key = ? or key IS ? that a plan uses.
struct KeyConstraint {
  int index = -1;  // in aConstraint; -1 if no condition can be used in this join order
  Collation collation = Collation::binary;  // of the comparison
  // Whether some condition on the key takes its value from a table that comes later in this join
  // order.
  bool comes_later = false;
  // The collation of a condition that the filter does not support; null if there is none.
  const char* unsupported_collation = nullptr;
};
// Returns the condition to use on the key, which is this column. `own` is the collation of the
// filter. The filter also supports BINARY comparisons: keys that are equal byte for byte are equal
// under any collation.
KeyConstraint choose_key_constraint(sqlite3_index_info& info, int column, Collation own);
// Returns the index in aConstraint of a usable condition that compares this column by = or IS; -1
// for none.
int equality_on(const sqlite3_index_info& info, int column);
// Sets idxStr to kUnsupportedCollationPrefix, followed by the collation. Throws std::bad_alloc.
void name_unsupported_collation(sqlite3_index_info& info, const char* collation);

// Chooses a plan and writes it to `info`. Returns an SQLite result code. Throws std::bad_alloc.
//
// Returns SQLITE_CONSTRAINT if the key comes from a table that is not yet available in this join
// order; SQLite then tries another order. There is no plan that lists keys, because it would lose
// rows.
//
// If the query compares `filter` with a value, that value is passed to xFilter, after the key if
// there is a key. SQLite turns the use of a table as a function, FROM seen('x'), into such a
// comparison. `own` is the collation of the filter.
int choose_plan(sqlite3_index_info& info, Collation own);

}  // namespace bloom
