// The query plans of a bloom_groups table: what xBestIndex offers to SQLite's planner.
#pragma once

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

// The columns of a table. All but `member` and `last` are hidden. The column for commands has the
// name of the table. If the members are ranges of rows, `member` is called `first`. `key` is the
// first hidden column, so that FROM who('x') looks up a key.
enum class GroupColumn : int {
  member,
  key,
  filter,
  // The properties, which are read-only.
  keys,
  fpr,
  capacity,
  bytes,
  overfull,
  info,
  command,
  last,  // only if the members are ranges of rows
};

enum class GroupPlan : int {
  // key = ?: the members whose filters may contain the key.
  key = 1,
  // key = ? AND member = ?: the member, if its filter may contain the key. The key is the first
  // argument of xFilter, and the member is the second.
  key_of_member = 2,
  // member = ?: the member, if it exists.
  member = 3,
  // No condition: all members. `key` cannot be read.
  all_members = 4,
  // The query compares `key` with a collation that the filters do not support: see plan.h.
  refused_collation = 5,
};

inline bool looks_up_a_key(GroupPlan plan) {
  return plan == GroupPlan::key || plan == GroupPlan::key_of_member;
}

// Chooses a plan and writes it to `info`. Returns an SQLite result code, as choose_plan() of
// plan.h. `own` is the collation of the keys. Throws std::bad_alloc.
int choose_group_plan(sqlite3_index_info& info, Collation own);

}  // namespace bloom
