#include "sql/bloom_table/bloom_plan.h"

#include <algorithm>
#include <cassert>

namespace bloom {
namespace {

constexpr char kLookup[] = "key=?";
constexpr char kFullFilter[] = "full filter";
constexpr char kCountKeys[] = "counts keys, cannot list them";

// A probe is cheaper than the b-tree lookup that it saves, but the planner cannot know that.
// estimatedRows is an integer, so a plan cannot report that less than one row passes. The total
// cost of a join is then the same in any order, up to rounding, and the planner puts the more
// expensive table first. With this cost that table is the filter. This holds in all orders of FROM,
// with and without ANALYZE, in SQLite 3.31 to 3.54 (tests/table/table_test.py). A condition on the
// table that is looked up lowers its rows below one, and no cost of ours makes up for that: the
// documents show forms that fix the order (tests/table/plan_shapes_test.py).
constexpr double kLookupCost = 100;
constexpr double kPropertiesCost = 1e6;
// More than a scan of any table that gives the keys one by one.
constexpr double kListCost = 1e15;
constexpr double kCostOfRefusal = 1e99;

sqlite3_uint64 bit(BloomColumn column) { return sqlite3_uint64{1} << static_cast<int>(column); }

// Newer SQLite versions set the bit of `key` in colUsed for every query, so that bit says nothing.
bool reads_filter_or_property(const sqlite3_index_info& info) {
  return (info.colUsed & (bit(BloomColumn::command) - bit(BloomColumn::filter))) != 0;
}

void offer(sqlite3_index_info& info, BloomPlan plan, const char* text, double cost,
           bool from_lists = false) {
  info.idxNum = static_cast<int>(plan) + (from_lists ? kFromLists : 0);
  info.idxStr = const_cast<char*>(text);
  info.estimatedCost = cost;
  info.estimatedRows = 1;
}

// Finds the conditions on the parts of a composite key.
class PartConditions {
 public:
  PartConditions(sqlite3_index_info& info, const PartColumns& parts) : info_(info), parts_(parts) {
    for (std::size_t i = 0; i < parts.names.size(); ++i) {
      add(i);
    }
  }

  bool any() const { return any_; }
  bool all() const { return any_ && missing_.empty() && problem_.empty(); }
  bool some_come_later() const { return comes_later_; }
  // Returns why the conditions cannot be looked up. Requires: not all().
  std::string problem() const {
    assert(!all());
    return problem_.empty() ? "the key has several columns, and the condition lacks " + missing_ +
                                  " (give all of them: " + parts_.condition() + ")"
                            : problem_;
  }

  bool have_list() const {
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [](const auto& each) { return each.may_be_list; });
  }

  // Passes the values to xFilter. Returns whether a comparison is not BINARY. Requires: all().
  bool pass_on() const {
    assert(all());
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      auto& usage = info_.aConstraintUsage[chosen_[i].index];
      usage.argvIndex = static_cast<int>(i) + 1;
      usage.omit = 1;
    }
    return std::any_of(chosen_.begin(), chosen_.end(), [](const KeyConstraint& condition) {
      return condition.collation != Collation::binary;
    });
  }

 private:
  void add(std::size_t part) {
    const int column = parts_.first + static_cast<int>(part);
    KeyConstraint condition = choose_key_constraint(info_, column, parts_.collations[part]);
    if (!is_compared(info_, column)) {
      condition.index = null_test_on(info_, column);  // no key has a NULL, so it finds nothing
    }
    any_ = any_ || condition.index >= 0 || is_compared(info_, column);
    chosen_.push_back(condition);
    if (condition.index >= 0) {
      return;
    }
    comes_later_ = comes_later_ || condition.comes_later;
    if (condition.unsupported_collation != nullptr) {
      problem_ = unsupported(part, condition.unsupported_collation);
    }
    missing_.append(missing_.empty() ? "" : " and ").append(parts_.names[part]);
  }

  std::string unsupported(std::size_t part, const char* collation) const {
    const Collation own = parts_.collations[part];
    return "the filter cannot compare " + parts_.names[part] + " under the collation " + collation +
           " (compare it with COLLATE " + std::string(name_of(own)) +
           (own == Collation::binary ? ")" : " or BINARY)");
  }

  sqlite3_index_info& info_;
  const PartColumns& parts_;
  std::vector<KeyConstraint> chosen_;  // one per part
  bool any_ = false;
  bool comes_later_ = false;
  std::string missing_;  // the columns without a condition that can be used
  std::string problem_;
};

// Passes the value of a constraint to xFilter as argument number `argument`. SQLite still checks
// the constraint itself. Does nothing if `constraint` is negative.
void pass_on(sqlite3_index_info& info, int constraint, int argument) {
  if (constraint >= 0) {
    info.aConstraintUsage[constraint].argvIndex = argument;
  }
}

int choose_plan_for_parts(sqlite3_index_info& info, const PartColumns& parts,
                          const PartConditions& conditions) {
  const bool has_key = is_compared(info, static_cast<int>(BloomColumn::key));
  if (conditions.all() && !has_key) {
    const bool collated = conditions.pass_on();
    info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    offer(info, collated ? BloomPlan::lookup_parts_collated : BloomPlan::lookup_parts, nullptr,
          kLookupCost, conditions.have_list());
    set_plan_text(info, parts.condition());
    pass_on(info, equality_on(info, static_cast<int>(BloomColumn::filter)),
            static_cast<int>(parts.names.size()) + 1);
    return SQLITE_OK;
  }
  if (conditions.some_come_later() && !has_key) {
    return SQLITE_CONSTRAINT;
  }
  offer(info, BloomPlan::refused_parts, nullptr, kCostOfRefusal);
  set_plan_text(info, has_key ? "a lookup gives either the key or its columns, not both"
                              : conditions.problem());
  return SQLITE_OK;
}

}  // namespace

std::string PartColumns::condition() const {
  std::string condition;
  for (const std::string& name : names) {
    condition.append(condition.empty() ? "" : " AND ").append(name).append(" = ?");
  }
  return condition;
}

int choose_plan(sqlite3_index_info& info, Collation own, const PartColumns& parts) {
  if (const PartConditions conditions(info, parts); conditions.any()) {
    return choose_plan_for_parts(info, parts, conditions);
  }
  const KeyConstraint key = choose_key_constraint(info, static_cast<int>(BloomColumn::key), own);
  const int filter_compared = equality_on(info, static_cast<int>(BloomColumn::filter));
  if (key.index >= 0) {
    info.aConstraintUsage[key.index].argvIndex = 1;
    info.aConstraintUsage[key.index].omit = 1;
    info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    const bool binary = key.collation == Collation::binary;
    offer(info, binary ? BloomPlan::lookup : BloomPlan::lookup_collated, kLookup,
          key.list_displaces_join ? kListCost : kLookupCost, key.may_be_list);
    pass_on(info, filter_compared, 2);
    return SQLITE_OK;
  }
  if (key.comes_later) {
    return SQLITE_CONSTRAINT;
  }
  // Before 3.32, SQLite does not say that the arguments of f('x') use a column.
  if (reads_filter_or_property(info) || filter_compared >= 0) {
    offer(info, BloomPlan::properties, kFullFilter, kPropertiesCost);
    pass_on(info, filter_compared, 1);
  } else if (key.unsupported_collation != nullptr) {
    offer(info, BloomPlan::refused_collation, nullptr, kCostOfRefusal);
    name_unsupported_collation(info, key.unsupported_collation);
  } else {
    offer(info, BloomPlan::count, kCountKeys, kCostOfRefusal);
  }
  return SQLITE_OK;
}

}  // namespace bloom
