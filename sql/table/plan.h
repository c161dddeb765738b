// How a query gets at a bloom table: what xBestIndex offers to SQLite's planner.
#pragma once

#include <string_view>

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

// The columns of a table, all but the first hidden. The last has the name of the table.
enum class Column : int { key, filter, info, command };

enum class Plan : int {
  // key = ?: one row, with the key that was asked for, if it may be present.
  lookup = 1,
  // The same, compared under the filter's own collation, which is not BINARY.
  lookup_collated = 5,
  // filter or info: one row, of which the key cannot be read.
  full_filter = 2,
  // Not answered, because the key is not given, or is compared under another collation, which
  // stands behind kForeignCollation in the text of the plan. SQLite takes such a plan only when it
  // has no other; running it is an error.
  refused_scan = 3,
  refused_collation = 4,
};

inline constexpr std::string_view kForeignCollation = "refused: collation ";

// Returns SQLITE_CONSTRAINT when the key is to come from a table that is not at hand in this order
// of a join: SQLite then tries another order. There is no plan that reads keys without being given
// one: it would lose rows.
//
// What `filter` is to be equal to is passed on behind the key, if there is such a condition: SQLite
// makes one of f('x'), too.
//
// `own` is the collation of the filter. It answers comparisons under BINARY as well: what is equal
// byte for byte is equal under any other.
int choose_plan(sqlite3_index_info& info, Collation own);

}  // namespace bloom
