#include "sql/table/plan.h"

#include <cstdint>
#include <new>

namespace bloom {
namespace {

constexpr char kLookup[] = "key=?";
constexpr char kFullFilter[] = "full filter";
constexpr char kCountKeys[] = "counts keys, cannot list them";

// A probe is cheaper than the b-tree lookup that it saves, but the planner cannot know that.
// estimatedRows is an integer, so a plan cannot report that less than one row passes. The total
// cost of a join is then the same in any order, up to rounding, and the planner puts the more
// expensive table first. With this cost that table is the filter. This holds in all orders of FROM,
// with and without ANALYZE, in SQLite 3.31 to 3.54 (tests/table/table_test.py).
constexpr double kLookupCost = 100;
constexpr double kPropertiesCost = 1e6;
constexpr double kCostOfRefusal = 1e99;

bool is_equality(unsigned char op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}

sqlite3_uint64 bit(Column column) { return sqlite3_uint64{1} << static_cast<int>(column); }

// Newer SQLite versions set the bit of `key` in colUsed for every query, so that bit says nothing.
bool reads_filter_or_property(const sqlite3_index_info& info) {
  return (info.colUsed & (bit(Column::command) - bit(Column::filter))) != 0;
}

void offer(sqlite3_index_info& info, Plan plan, const char* text, double cost) {
  info.idxNum = static_cast<int>(plan);
  info.idxStr = const_cast<char*>(text);
  info.estimatedCost = cost;
  info.estimatedRows = 1;
}

// Passes the value of a constraint to xFilter as argument number `argument`. SQLite still checks
// the constraint itself. Does nothing if `constraint` is negative.
void pass_on(sqlite3_index_info& info, int constraint, int argument) {
  if (constraint >= 0) {
    info.aConstraintUsage[constraint].argvIndex = argument;
  }
}

}  // namespace

KeyConstraint choose_key_constraint(sqlite3_index_info& info, int column, Collation own) {
  KeyConstraint key;
  bool binary_comes_later = false;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn != column || !is_equality(constraint.op)) {
      continue;
    }
    const char* collation = sqlite3_vtab_collation(&info, i);
    const auto known = collation_named(collation);
    if (constraint.usable == 0) {
      key.comes_later = true;
      binary_comes_later = binary_comes_later || known == Collation::binary;
    } else if (!known || (*known != own && *known != Collation::binary)) {
      key.unsupported_collation = collation;
    } else if (key.index < 0 || *known == Collation::binary) {
      key.index = i;
      key.collation = *known;
    }
  }
  // SQLite tests the other conditions on the key with the value that was looked up. If there are
  // several, the strictest one must be looked up: BINARY before any other collation.
  if (binary_comes_later && key.collation != Collation::binary) {
    key.index = -1;
  }
  return key;
}

int equality_on(const sqlite3_index_info& info, int column) {
  int found = -1;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn == column && is_equality(constraint.op) && constraint.usable != 0) {
      found = i;
    }
  }
  return found;
}

int choose_plan(sqlite3_index_info& info, Collation own) {
  const KeyConstraint key = choose_key_constraint(info, static_cast<int>(Column::key), own);
  const int filter_compared = equality_on(info, static_cast<int>(Column::filter));
  if (key.index >= 0) {
    info.aConstraintUsage[key.index].argvIndex = 1;
    info.aConstraintUsage[key.index].omit = 1;
    info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    const bool binary = key.collation == Collation::binary;
    offer(info, binary ? Plan::lookup : Plan::lookup_collated, kLookup, kLookupCost);
    pass_on(info, filter_compared, 2);
    return SQLITE_OK;
  }
  if (key.comes_later) {
    return SQLITE_CONSTRAINT;
  }
  if (reads_filter_or_property(info)) {
    offer(info, Plan::properties, kFullFilter, kPropertiesCost);
    pass_on(info, filter_compared, 1);
  } else if (key.unsupported_collation != nullptr) {
    offer(info, Plan::refused_collation, nullptr, kCostOfRefusal);
    name_unsupported_collation(info, key.unsupported_collation);
  } else {
    offer(info, Plan::count, kCountKeys, kCostOfRefusal);
  }
  return SQLITE_OK;
}

void name_unsupported_collation(sqlite3_index_info& info, const char* collation) {
  info.idxStr = sqlite3_mprintf("%s%s", kUnsupportedCollationPrefix.data(), collation);
  if (info.idxStr == nullptr) {
    throw std::bad_alloc();
  }
  info.needToFreeIdxStr = 1;
}

}  // namespace bloom
