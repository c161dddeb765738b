// The query plans of a bloom table: what xBestIndex offers to SQLite's planner.
#pragma once

#include <string>
#include <vector>

#include "core/hashing/collation.h"
#include "core/hashing/composite_key.h"
#include "sql/vtab/key_constraint.h"

namespace bloom {

// The columns of a table. All but `key` are hidden. The column for commands has the name of the
// table. It is the last of these, unless the table has the name of a property: that column then
// takes the commands as well.
enum class BloomColumn : int {
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

enum class BloomPlan : int {
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
  // The condition gives every column of a composite key. The values are passed in the order of the
  // columns. `collated`: some column is compared with its own collation, which is not BINARY.
  lookup_parts = 6,
  lookup_parts_collated = 7,
  // Refused: the conditions on the columns of a composite key cannot be looked up. idxStr says why.
  // Running the plan is an error.
  refused_parts = 8,
};

// The columns that a table has for the parts of a composite key. They come after all others.
struct PartColumns {
  int first = 0;                   // SQLite's number of the column names[0]
  std::vector<std::string> names;  // empty: the table has no such columns
  PartCollations collations;

  // Returns the part that this column is; -1 for none.
  int part_of(int column) const {
    return column >= first && column < first + static_cast<int>(names.size()) ? column - first : -1;
  }
  // Returns the condition to write: tenant = ? AND email = ?
  std::string condition() const;
};

// Chooses a plan and writes it to `info`. Returns an SQLite result code. Throws std::bad_alloc.
//
// Returns SQLITE_CONSTRAINT if the key comes from a table that is not yet available in this join
// order; SQLite then tries another order. A scan could not list the keys, and the join would lose
// rows.
//
// SQLite turns the use of the table as a function, FROM seen('x'), into the condition filter = 'x'.
// A value that is compared with `filter` is passed to xFilter after the key, so that the cursor can
// refuse it. `own` is the collation of the column `key`.
int choose_plan(sqlite3_index_info& info, Collation own, const PartColumns& parts);

}  // namespace bloom
