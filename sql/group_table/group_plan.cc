#include "sql/group_table/group_plan.h"

#include "sql/group_table/group_columns.h"
#include "sql/vtab/key_constraint.h"

namespace bloom {
namespace {

// A lookup of a key reads one page per 64 members. It yields few members, and often none. A lookup
// in one member reads one page, but must not seem cheaper: SQLite could then scan the table whose
// rows the members stand for, to get a member for each lookup.
constexpr double kKeyCost = 1000;
constexpr double kMemberCost = 10;
constexpr double kAllMembersCost = 1e6;
constexpr double kRefusalCost = 1e99;
constexpr sqlite3_int64 kCandidateRows = 2;
constexpr sqlite3_int64 kMemberRows = 1000;

void offer(sqlite3_index_info& info, GroupPlan plan, const char* text, double cost,
           sqlite3_int64 rows, bool from_lists = false) {
  info.idxNum = static_cast<int>(plan) + (from_lists ? kFromLists : 0);
  info.idxStr = const_cast<char*>(text);
  info.estimatedCost = cost;
  info.estimatedRows = rows;
}

// Returns whether the query uses the column `key`, even if only in another condition. SQLite says
// so for each UPDATE, and sets the bits of all columns that a table could have.
bool uses_key(const sqlite3_index_info& info) {
  constexpr sqlite3_uint64 kAnyColumn = ~sqlite3_uint64{0};
  return info.colUsed != kAnyColumn &&
         (info.colUsed >> static_cast<unsigned>(GroupColumn::key) & 1U) != 0;
}

// Returns the condition member = ?, if it compares as the members are stored: by BINARY. SQLite
// checks the condition again, so the rows may be too many. It would check each value of member IN
// (...) without the affinity and the collation of the right side, which loses members: without this
// condition, it evaluates IN.
int member_constraint(sqlite3_index_info& info) {
  int found = -1;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn == static_cast<int>(GroupColumn::member) && constraint.usable != 0 &&
        is_equality(constraint.op) && !may_be_list(info, i) &&
        collation_named(sqlite3_vtab_collation(&info, i)) == Collation::binary) {
      found = i;
    }
  }
  return found;
}

}  // namespace

int choose_group_plan(sqlite3_index_info& info, Collation own) {
  const KeyConstraint key = choose_key_constraint(info, static_cast<int>(GroupColumn::key), own);
  const int member = member_constraint(info);
  if (key.index >= 0) {
    info.aConstraintUsage[key.index].argvIndex = 1;
    info.aConstraintUsage[key.index].omit = 1;
  }
  if (member >= 0 && (key.index >= 0 || !key.comes_later)) {
    info.aConstraintUsage[member].argvIndex = key.index >= 0 ? 2 : 1;
  }
  if (key.index >= 0 && member >= 0) {
    offer(info, GroupPlan::key_of_member, "key=? AND member=?", kKeyCost, 1, key.may_be_list);
  } else if (key.index >= 0) {
    offer(info, GroupPlan::key, "key=?", kKeyCost, kCandidateRows, key.may_be_list);
  } else if (key.comes_later) {
    return SQLITE_CONSTRAINT;
  } else if (key.unsupported_collation != nullptr) {
    offer(info, GroupPlan::refused_collation, nullptr, kRefusalCost, 1);
    name_unsupported_collation(info, key.unsupported_collation);
  } else if (uses_key(info)) {
    offer(info, GroupPlan::refused_scan, nullptr, kRefusalCost, 1);
  } else if (member >= 0) {
    offer(info, GroupPlan::member, "member=?", kMemberCost, 1);
  } else {
    offer(info, GroupPlan::all_members, "all members", kAllMembersCost, kMemberRows);
  }
  return SQLITE_OK;
}

}  // namespace bloom
