#include "sql/search_table/search_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "sql/vtab/key_constraint.h"

namespace bloom {
namespace {

constexpr int kMaxConditions = 100;

bool is_bound(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ||
         op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

// The conditions that a plan can have, as it writes them.
struct Operator {
  int op;
  char code;
};
constexpr Operator kOperators[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '='},     {SQLITE_INDEX_CONSTRAINT_IS, 'i'},
    {SQLITE_INDEX_CONSTRAINT_GT, '>'},     {SQLITE_INDEX_CONSTRAINT_GE, 'g'},
    {SQLITE_INDEX_CONSTRAINT_LT, '<'},     {SQLITE_INDEX_CONSTRAINT_LE, 'l'},
    {SQLITE_INDEX_CONSTRAINT_NE, '!'},     {SQLITE_INDEX_CONSTRAINT_ISNOT, 'n'},
    {SQLITE_INDEX_CONSTRAINT_ISNULL, '0'}, {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, '1'},
    {SQLITE_INDEX_CONSTRAINT_LIKE, '%'},   {SQLITE_INDEX_CONSTRAINT_GLOB, '*'},
    {SQLITE_INDEX_CONSTRAINT_MATCH, 'm'},
};
constexpr char kLiteral = '\'';
constexpr char kList = ',';
constexpr std::string_view kUsualCollation = "BINARY";

const Operator* find_operator(int op) {
  const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& each) { return each.op == op; });
  return found == std::end(kOperators) ? nullptr : found;
}

bool is_pattern(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB;
}

// For a LIKE 'abc%', SQLite also gives a >= 'ABC' AND a < 'abd', which leaves out what is no text:
// the BLOB of the same bytes, and the number Infinity for 'Inf%'. Bounds add nothing to LIKE.
bool is_bound_of_pattern(const sqlite3_index_info& info, int i) {
  const auto& bound = info.aConstraint[i];
  return is_bound(bound.op) &&
         std::any_of(info.aConstraint, info.aConstraint + info.nConstraint, [&](const auto& each) {
           return each.iColumn == bound.iColumn && is_pattern(each.op);
         });
}

// Before 3.38 SQLite cannot tell.
bool is_literal(sqlite3_index_info& info, int i) {
#if SQLITE_VERSION_NUMBER >= 3038000
  constexpr int kFirst = 3038000;
  sqlite3_value* value = nullptr;
  return sqlite3_libversion_number() >= kFirst &&
         sqlite3_vtab_rhs_value(&info, i, &value) == SQLITE_OK;
#else
  static_cast<void>(info);
  static_cast<void>(i);
  return false;
#endif
}

// Returns the rowid for the column that is its alias.
int rowid_or(const SearchFacts& facts, int column) {
  return column >= 0 && column < facts.columns.source_columns() &&
                 facts.source.columns()[static_cast<std::size_t>(column)].name ==
                     facts.source.rowid_alias()
             ? kRowidColumn
             : column;
}

// Takes the text up to `end` from the front, and `end` too.
std::string_view take(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return taken;
}

template <typename Number>
Number number_in(std::string_view text, int base = 10) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// Returns whether the filter over the whole table may answer an equality.
bool has_table_filter(const SearchFacts& facts, int op, int column, const std::string& collation) {
  const int own = column == kRowidColumn ? facts.source.find(facts.source.rowid_alias()) : column;
  const int item = own < 0 ? -1 : item_for(facts, op, own, collation);
  return item >= 0 &&
         facts.config.table_filter.has(
             {SearchedBy::equal, static_cast<std::uint32_t>(item), facts.collation(own)});
}

// Returns whether the source finds the rows of one value of a condition without a filter.
bool finds_rows(const SearchFacts& facts, sqlite3_index_info& info, int i) {
  const auto& constraint = info.aConstraint[i];
  const int column = rowid_or(facts, constraint.iColumn);
  if (constraint.usable == 0 || !is_equality(constraint.op)) {
    return false;
  }
  if (column < 0 || column >= facts.columns.source_columns()) {
    return column == kRowidColumn;
  }
  const SourceColumn& own = facts.source.columns()[static_cast<std::size_t>(column)];
  return facts.source.has_index_on(own.name, own.collation) && !may_be_list(info, i);
}

// Returns the equality of the rowid that the plan uses; -1 for none. SQLite executes a plan of
// several lists for each combination of their values.
int equality_of_rowid(const SearchFacts& facts, sqlite3_index_info& info) {
  int list = -1;
  bool index_finds_rows = false;
  for (int i = info.nConstraint - 1; i >= 0; --i) {
    if (!finds_rows(facts, info, i)) {
      continue;
    }
    if (rowid_or(facts, info.aConstraint[i].iColumn) != kRowidColumn) {
      index_finds_rows = true;
    } else if (may_be_list(info, i)) {
      list = i;
    } else {
      return i;
    }
  }
  return index_finds_rows ? -1 : list;
}

}  // namespace

bool may_come_from_on_clause(int op) {
  constexpr int kFixed = 3054000;
  return sqlite3_libversion_number() < kFixed && op != SQLITE_INDEX_CONSTRAINT_ISNULL &&
         !is_equality(op) && !is_bound(op);
}

Collation collation_of_keys(const std::string& collation) {
  return collation_named(collation).value_or(Collation::binary);
}

int item_for(const SearchFacts& facts, int op, int column, std::string_view collation) {
  for (std::size_t i = 0; i < facts.options.items().size(); ++i) {
    if (facts.columns.column_of_item(i) != column) {
      continue;
    }
    const SearchedBy by = facts.options.items()[i].by;
    if ((by == SearchedBy::like && is_pattern(op)) ||
        (by == SearchedBy::words && op == SQLITE_INDEX_CONSTRAINT_MATCH)) {
      return static_cast<int>(i);
    }
    if (by == SearchedBy::equal && is_equality(op)) {
      const Collation own = facts.collation(column);
      const auto compared = collation_named(collation);
      if (compared && (*compared == own || *compared == Collation::binary)) {
        return static_cast<int>(i);
      }
    }
  }
  return -1;
}

// The costs are in rows of a scan. Each row that a virtual table returns takes about twice as long
// as a row of the source.
void choose_search_plan(sqlite3_index_info& info, const SearchFacts& facts) {
  const double rows = std::clamp(static_cast<double>(facts.config.most_rows_read), 1e3, 1e15);
  std::string human;
  std::string codes;
  double fraction = 1;  // of the rows that are returned
  double cost = 3 * rows;
  int arguments = 0;
  bool is_unique = false;
  bool has_order = true;
  bool finds_few = false;
  for (int i = 0; i < info.nConstraint; ++i) {
    finds_few = finds_few || finds_rows(facts, info, i);
  }
  const int by_rowid = equality_of_rowid(facts, info);
  for (int i = 0; i < info.nConstraint && arguments < kMaxConditions; ++i) {
    const auto& constraint = info.aConstraint[i];
    const int column = rowid_or(facts, constraint.iColumn);
    const Operator* const known = find_operator(constraint.op);
    if (constraint.usable == 0 || known == nullptr || is_bound_of_pattern(info, i) ||
        column >= facts.columns.value_columns() ||
        (column == kRowidColumn && is_equality(constraint.op) && i != by_rowid)) {
      continue;
    }
    const bool is_source_column = column >= 0 && column < facts.columns.source_columns();
    const char* const found = sqlite3_vtab_collation(&info, i);
    std::string collation(found == nullptr ? kUsualCollation : found);
    if (is_equality(constraint.op) && is_source_column && !is_literal(info, i)) {
      // SQLite gives the collation of a for b, too, in (a, b) IN (...), where it is that of b.
      const std::string& own = facts.source.columns()[static_cast<std::size_t>(column)].collation;
      const auto is = [](const std::string& a, std::string_view b) {
        return sqlite3_stricmp(a.c_str(), std::string(b).c_str()) == 0;
      };
      if (!is(collation, own) && !is(collation, kUsualCollation) && !is(own, kUsualCollation)) {
        continue;
      }
      collation = is(collation, kUsualCollation) ? own : collation;
    }
    if (!std::all_of(collation.begin(), collation.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; })) {
      continue;
    }
    // A list is copied whenever the table is searched, which may be for each row of another table.
    // SQLite looks few rows up in it faster.
    if (finds_few && column >= 0 && is_equality(constraint.op) && may_be_list(info, i)) {
      continue;
    }
    // Values one by one are right for the rowid, which is an integer.
    const ListUse list =
        is_equality(constraint.op) && column >= 0 ? take_as_list(info, i) : ListUse::none;
    if (list == ListUse::maybe_list) {
      continue;
    }
    const bool is_list = list == ListUse::list;
    info.aConstraintUsage[i].argvIndex = ++arguments;
    const bool has_index =
        is_equality(constraint.op) && is_source_column &&
        facts.source.has_index_on(facts.source.columns()[static_cast<std::size_t>(column)].name,
                                  collation);
    // The rows of the values are found one value after the other.
    has_order = has_order && !(is_list && has_index);
    codes.append(1, known->code).append(column < 0 ? "" : std::to_string(column));
    if (is_list || is_literal(info, i)) {
      codes.append(1, is_list ? kList : kLiteral);
    }
    codes.append(collation == kUsualCollation ? "" : ":" + collation).append(" ");
    const int item = column < 0 ? -1 : item_for(facts, constraint.op, column, collation);
    const auto name = [&](const char* how, const std::string& what) {
      human.append(human.empty() ? "" : " AND ").append(how).append("(").append(what).append(")");
    };
    const bool has_filter = (has_index || (column == kRowidColumn && is_equality(constraint.op))) &&
                            has_table_filter(facts, constraint.op, column, collation);
    if (column == kRowidColumn && is_equality(constraint.op)) {
      name(has_filter ? "filter and rowid" : "rowid", "=");
      is_unique = true;
    } else if (column == kRowidColumn && is_bound(constraint.op)) {
      name("rowid", constraint.op == SQLITE_INDEX_CONSTRAINT_GT ||
                            constraint.op == SQLITE_INDEX_CONSTRAINT_GE
                        ? ">"
                        : "<");
      cost /= 2;
      fraction /= 2;
    } else if (has_index) {
      name(has_filter ? "filter and index" : "index",
           facts.source.columns()[static_cast<std::size_t>(column)].name);
      // The filter is for lookups that mostly find nothing: a scan of this table in their place
      // would be a bad plan, even for many of them.
      cost = std::min(cost, has_filter ? 4.0 : 40.0);
      fraction = std::min(fraction, (has_filter ? 1 : 10) / rows);
    } else if (item >= 0) {
      const SearchedItem& searched = facts.options.items()[static_cast<std::size_t>(item)];
      const bool is_equal = searched.by == SearchedBy::equal;
      name(name_of(searched.by), searched.column);
      const auto& family = facts.config.of(
          searched.by == SearchedBy::like ? Family::grams : Family::values_and_words);
      const double ranges = std::max(1.0, static_cast<double>(family.ranges));
      cost = std::min(cost, ranges / 4 + (is_equal ? 2 : 4) * rows / ranges + 50);
      // Nobody knows how many rows have the value. If SQLite expected few, it would not make an
      // automatic index on a table that is joined.
      constexpr double kShare = 1.0 / 64;
      fraction = std::min(fraction, std::max((is_equal ? 10 : 25) / rows, kShare));
    } else {
      fraction *= is_equality(constraint.op) ? 0.1 : 0.5;
    }
  }
  info.idxNum = kNoOrder;
  if (has_order && info.nOrderBy == 1 &&
      rowid_or(facts, info.aOrderBy[0].iColumn) == kRowidColumn) {
    info.idxNum = info.aOrderBy[0].desc != 0 ? kDescending : kAscending;
    info.orderByConsumed = 1;
  }
  info.estimatedCost = is_unique ? 10 : cost;
  info.estimatedRows =
      is_unique ? 1 : std::max<sqlite3_int64>(1, static_cast<sqlite3_int64>(rows * fraction));
  if (is_unique) {
    info.idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  }
  char used[20];
  auto* const end = std::to_chars(used, used + sizeof used, info.colUsed, 16).ptr;
  set_plan_text(info,
                (human.empty() ? "all rows" : human) + " [" + codes + std::string(used, end) + "]");
}

SearchPlan read_search_plan(std::string_view text) {
  SearchPlan plan;
  text.remove_prefix(text.rfind('[') + 1);
  std::string_view codes = take(text, ']');
  while (codes.find(' ') != std::string_view::npos) {
    std::string_view code = take(codes, ' ');
    SearchCondition condition{};
    for (const Operator& each : kOperators) {
      condition.op = each.code == code.front() ? each.op : condition.op;
    }
    code.remove_prefix(1);
    const std::string_view column = take(code, ':');
    condition.column =
        column.find_first_of("0123456789") == 0 ? number_in<int>(column) : kRowidColumn;
    condition.is_literal = column.ends_with(kLiteral);
    condition.is_list = column.ends_with(kList);
    condition.collation = code.empty() ? kUsualCollation : code;
    plan.conditions.push_back(std::move(condition));
  }
  plan.columns_used = number_in<std::uint64_t>(codes, 16);
  return plan;
}

}  // namespace bloom
