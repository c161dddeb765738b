// The query plans of a bloom_groups table: what xBestIndex offers to SQLite's planner.
#pragma once

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

enum class GroupPlan : int {
  // key = ?: the members whose filters may contain the key.
  key = 1,
  // key = ? AND member = ?: the member, if its filter may contain the key. The key is the first
  // argument of xFilter, and the member is the second.
  key_of_member = 2,
  // member = ?: the member, if it exists.
  member = 3,
  // No condition: all members.
  all_members = 4,
  // The query compares `key` with a collation that the filters do not support: see
  // sql/vtab/key_constraint.h.
  refused_collation = 5,
  // The query uses `key`, and has no condition to look it up. Refused: in an OR or RIGHT JOIN, a
  // scan and a lookup can find the same member. SQLite recognizes rows that it has returned already
  // by their PRIMARY KEY, which is the column for commands. A lookup returns the hash of the key in
  // that column. A scan has no key, so SQLite would return the member a second time.
  refused_scan = 6,
};

inline bool looks_up_a_key(GroupPlan plan) {
  return plan == GroupPlan::key || plan == GroupPlan::key_of_member;
}

// Chooses a plan and writes it to `info`. Returns an SQLite result code, as choose_plan() of the
// bloom table. `own` is the collation of the keys. Throws std::bad_alloc.
int choose_group_plan(sqlite3_index_info& info, Collation own);

}  // namespace bloom
