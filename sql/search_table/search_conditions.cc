// The conditions of a query on a bloom_search table: which rows must be read, and which of the
// conditions the statement on the source has.
#include <algorithm>
#include <string>

#include "sql/search_table/ranges/range_lookup.h"
#include "sql/search_table/search_match.h"
#include "sql/search_table/search_table.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::OwnedValue;
using sqlite::quoted_name;

bool is_null_test(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
}

// Returns the operator in SQL, which MATCH has not.
const char* operator_of(int op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return " = ";
    case SQLITE_INDEX_CONSTRAINT_IS:
      return " IS ";
    case SQLITE_INDEX_CONSTRAINT_ISNOT:
      return " IS NOT ";
    case SQLITE_INDEX_CONSTRAINT_NE:
      return " <> ";
    case SQLITE_INDEX_CONSTRAINT_GT:
      return " > ";
    case SQLITE_INDEX_CONSTRAINT_GE:
      return " >= ";
    case SQLITE_INDEX_CONSTRAINT_LT:
      return " < ";
    case SQLITE_INDEX_CONSTRAINT_LE:
      return " <= ";
    case SQLITE_INDEX_CONSTRAINT_LIKE:
      return " LIKE ";
    case SQLITE_INDEX_CONSTRAINT_GLOB:
      return " GLOB ";
    case SQLITE_INDEX_CONSTRAINT_ISNULL:
      return " IS NULL";
    case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
      return " IS NOT NULL";
    default:
      return "";
  }
}

// Returns false only for a text that SQLite never converts to a number, and no number to it. Ids
// such as '4bf92f35' are not numbers, although they have digits.
bool may_look_like_number(std::string_view text) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  const auto skip = [&](const auto& is_skipped) {
    text.remove_prefix(static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_skipped) - text.begin()));
  };
  skip(is_space);
  skip([](char c) { return c == '+' || c == '-'; });
  if (text.empty() || std::string_view("iInN").find(text.front()) != std::string_view::npos) {
    return true;  // infinity, or no number
  }
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_space(c) || std::string_view("0123456789.eE+-_").find(c) != std::string_view::npos;
  });
}

}  // namespace

void SearchTable::Search::read_plan(const char* idx_string) {
  if (plan_text_ == idx_string && names_version_of_plan_ == table_.source_.names_version()) {
    return;
  }
  names_version_of_plan_ = -1;
  plan_text_ = idx_string;
  SearchPlan plan = read_search_plan(idx_string);
  columns_used_ = plan.columns_used;
  columns_text_ = std::to_string(columns_used_) + " ";
  plan_.clear();
  for (SearchCondition& each : plan.conditions) {
    const std::string operand = operand_of(each);
    // The left COLLATE decides: an expression may have one of its own, which the column has not.
    std::string comparison =
        operand + " COLLATE " + quoted_name(each.collation) + operator_of(each.op);
    const bool has_index = has_index_for(each);
    plan_.push_back({std::move(each), operand, std::move(comparison), has_index});
  }
  names_version_of_plan_ = table_.source_.names_version();
}

SearchTable::Search::Wanted SearchTable::Search::read_conditions() {
  Wanted wanted;
  where_.clear();
  bound_.clear();
  std::string last;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const Condition& condition = *conditions_[i];
    const Value value = values_[i];
    // Before its text is read: in a database in UTF-16, that takes the last byte from a text of an
    // odd number of bytes.
    const Value parameter = value.type() == SQLITE_TEXT ? own(value) : value;
    const bool allows_null = condition.op == SQLITE_INDEX_CONSTRAINT_IS ||
                             condition.op == SQLITE_INDEX_CONSTRAINT_ISNOT ||
                             is_null_test(condition.op) || condition.is_list;
    wanted.is_none = wanted.is_none || (value.is_null() && !allows_null);
    if (condition.column == kRowidColumn && value.type() == SQLITE_INTEGER &&
        limit_rowids(condition, value.integer(), wanted)) {
      continue;
    }
    // Last: an expression may fail for rows that the other conditions refuse.
    std::string& sql = condition.column >= table_.columns_.source_columns() ? last : where_;
    const std::size_t size = sql.size();
    sql.append(" AND ");
    if (push_down(condition, value, sql)) {
      wanted.has_index = wanted.has_index || condition.has_index;
      if (!is_null_test(condition.op)) {
        bound_.push_back(parameter);
      }
      continue;
    }
    sql.resize(size);
    // For x IN (...), old SQLite takes a NULL of a virtual table for each of the values (3.31).
    if (condition.op == SQLITE_INDEX_CONSTRAINT_EQ && !condition.is_list) {
      sql.append(" AND ").append(condition.operand).append(" IS NOT NULL");
    }
  }
  where_ += last;
  return wanted;
}

bool SearchTable::Search::limit_rowids(const SearchCondition& condition, std::int64_t value,
                                       Wanted& wanted) {
  RowidRange& rows = wanted.rowids;
  switch (condition.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
      rows = {std::max(rows.first, value), std::min(rows.last, value)};
      return true;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      rows.first = std::max(rows.first, value);
      return true;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      rows.last = std::min(rows.last, value);
      return true;
    default:
      return false;
  }
}

bool SearchTable::Search::has_index_for(const SearchCondition& condition) const {
  const int column = condition.column;
  return is_equality(condition.op) && column >= 0 && column < table_.columns_.source_columns() &&
         table_.source_.has_index_on(
             table_.source_.columns()[static_cast<std::size_t>(column)].name, condition.collation);
}

std::string SearchTable::Search::operand_of(const SearchCondition& condition) const {
  if (condition.column == kRowidColumn) {
    return sqlite::quoted_column(table_.source_.rowid_alias());
  }
  const std::string sql = table_.columns_.sql(condition.column);
  // The hidden column of an expression has no affinity, whatever the expression has.
  return condition.column < table_.columns_.source_columns() ? sql : "+" + sql;
}

// SQLite converts the operands of a comparison by the affinity of both, but a parameter has none:
// that of the user's value is known only for a literal.
bool SearchTable::Search::push_down(const Condition& condition, const Value& value,
                                    std::string& sql) const {
  // Each condition needs a parameter, and a list another one.
  const auto used = kFirstParameter + static_cast<int>(bound_.size());
  if (condition.is_list ||
      used >= sqlite3_limit(table_.db_, SQLITE_LIMIT_VARIABLE_NUMBER, /*newVal=*/-1)) {
    return false;
  }
  const bool is_source_column =
      condition.column >= 0 && condition.column < table_.columns_.source_columns();
  const Affinity affinity =
      condition.column == kRowidColumn ? Affinity::numeric
      : is_source_column
          ? table_.source_.columns()[as_size(static_cast<std::uint64_t>(condition.column))].affinity
          : Affinity::blob;
  const std::string parameter = std::string("?").append(std::to_string(used));
  const int op = condition.op;
  const bool is_match = op == SQLITE_INDEX_CONSTRAINT_MATCH;
  const bool is_pattern =
      op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB || is_match;
  // In a database in UTF-16, a BLOB that is bound is read as another text than one of a column.
  if (is_pattern && value.type() == SQLITE_BLOB) {
    return false;
  }
  if (is_match) {
    sql.append(kWordsMatch.name).append("(").append(parameter).append(", ");
    sql.append(condition.operand).append(")");
    return true;
  }
  if (is_pattern) {
    // The + keeps SQLite from looking up the prefix in an index: in a database in UTF-16 it misses
    // some rows then (3.40).
    sql.append("+").append(condition.operand).append(operator_of(op)).append(parameter);
    return true;
  }
  if (is_null_test(op)) {
    sql.append(condition.operand).append(operator_of(op));
    return true;
  }
  sql.append(condition.comparison).append(parameter);
  // Without the affinity of the user's value: a literal may be CAST(... AS NUMERIC), which is no
  // text.
  const int type = value.type();
  if (type == SQLITE_NULL || type == SQLITE_BLOB) {
    return true;
  }
  if (may_be_of_like_with_escape(condition, value)) {
    return false;
  }
  if (is_numeric(affinity)) {
    return type != SQLITE_TEXT || condition.is_literal || is_equality(op);
  }
  if (type != SQLITE_TEXT) {
    return false;
  }
  return affinity == Affinity::text ? condition.is_literal || is_equality(op)
                                    : is_equality(op) && !may_look_like_number(value.text());
}

// SQLite gives only the bounds of a LIKE 'abc%' ESCAPE '!' (see is_bound_of_pattern).
bool SearchTable::Search::may_be_of_like_with_escape(const SearchCondition& condition,
                                                     const Value& value) const {
  const bool is_bound_of_prefix =
      condition.op == SQLITE_INDEX_CONSTRAINT_GE || condition.op == SQLITE_INDEX_CONSTRAINT_LT;
  return is_bound_of_prefix && value.type() == SQLITE_TEXT &&
         (collation_named(condition.collation) == Collation::nocase || !table_.like().ignores_case);
}

std::vector<OwnedValue> SearchTable::Search::list_of(const SearchCondition& condition,
                                                     const Value& argument) {
  const SearchConfig none;
  const SearchFacts facts = table_.facts(none);
  const KeyRule* const column = table_.column_for_filter(facts, condition);
  std::optional<bool> is_text_comparable;
  const auto can_probe = [&](const Value& value) {
    if (value.type() != SQLITE_TEXT) {
      return true;
    }
    if (!is_text_comparable) {
      is_text_comparable =
          table_.list_collations_.all_compare_by(name_of(column->collation), plan_text_);
    }
    return *is_text_comparable;
  };
  std::vector<OwnedValue> list;
  argument.for_each_in_list([&](const Value& value) {
    const bool is_probed = column != nullptr && !value.is_null() && can_probe(value) &&
                           table_.table_filter_.make_ready();
    if (!value.is_null() &&
        !(is_probed && table_.surely_lacks(*column, facts.affinity(condition.column), value))) {
      list.push_back(value.copy());
    }
  });
  return list;
}

bool SearchTable::Search::is_compared_by(const std::vector<OwnedValue>& list,
                                         std::string_view collation) {
  return std::none_of(
             list.begin(), list.end(),
             [](const OwnedValue& each) { return Value(each.get()).type() == SQLITE_TEXT; }) ||
         table_.list_collations_.all_compare_by(collation, plan_text_);
}

void SearchTable::Search::find_by_list() {
  for (std::size_t i = 0; i < conditions_.size() && order_ == kNoOrder; ++i) {
    if (conditions_[i]->is_list && can_use_index(i) &&
        (list_by_index_ == nullptr || lists_[i].size() < list_by_index_->size())) {
      list_by_index_ = &lists_[i];
      index_parameter_ = kFirstParameter + static_cast<int>(bound_.size());
      next_in_list_ = 0;
      returned_.clear();
    }
  }
  if (list_by_index_ != nullptr) {
    const Condition& condition =
        *conditions_[static_cast<std::size_t>(list_by_index_ - lists_.data())];
    where_.append(" AND ").append(condition.operand).append(" = ?");
    where_.append(std::to_string(index_parameter_)).append(" COLLATE ");
    where_.append(quoted_name(condition.collation));
  }
}

// As push_down(): the index must find all rows that may be equal, whatever affinity the right side
// has. SQLite has converted the list by that affinity and by the one of the column, so a text that
// is compared with numbers is no text any more.
bool SearchTable::Search::can_use_index(std::size_t condition) {
  const Condition& list = *conditions_[condition];
  if (!list.has_index) {
    return false;
  }
  const SourceColumn& column = table_.source_.columns()[static_cast<std::size_t>(list.column)];
  return std::all_of(lists_[condition].begin(), lists_[condition].end(),
                     [&](const OwnedValue& each) {
                       const Value value(each.get());
                       if (value.type() != SQLITE_TEXT) {
                         return value.type() == SQLITE_BLOB || is_numeric(column.affinity);
                       }
                       return column.affinity != Affinity::blob ||
                              !may_look_like_number(Value(value.copy().get()).text());
                     }) &&
         is_compared_by(lists_[condition], list.collation);
}

bool SearchTable::Search::look_up(const SearchConfig& config, Wanted wanted) {
  table_.source_.require_same_names();
  // A function of the host can search while a command makes ranges of rows that had others.
  if (!config.covered || table_.shared_.building != 0 || table_.out_of_sync(config)) {
    return false;
  }
  std::optional<RowidRanges> found;
  for (const Family f : kFamilies) {
    if (!config.of(f).is_used()) {
      continue;
    }
    RangeLookup lookup(table_.store_, config.of(f), f);
    for (const KeyRule& column : table_.searched_[static_cast<std::size_t>(f)]) {
      for (std::size_t i = 0; i < conditions_.size(); ++i) {
        const Condition& condition = *conditions_[i];
        const SearchFacts facts = table_.facts(config);
        if (condition.column >= 0 &&
            item_for(facts, condition.op, condition.column, condition.collation) ==
                static_cast<int>(column.item)) {
          narrow_by(column, facts.affinity(condition.column), i, lookup);
        }
      }
    }
    if (!lookup.has_narrowed()) {
      continue;
    }
    if (const auto ranges = lookup.result()) {
      found = found ? intersection(*found, *ranges) : *ranges;
    }
  }
  if (!found) {
    return false;
  }
  const RowidRanges changed = table_.source_.changed_rows();
  found->insert(found->end(), changed.begin(), changed.end());
  if (*config.covered != kHighestRowid) {
    found->push_back({*config.covered + 1, kHighestRowid});
  }
  normalize(*found);
  runs_ = intersection(*found, {wanted.rowids});
  return true;
}

void SearchTable::Search::narrow_by(const KeyRule& column, Affinity affinity, std::size_t condition,
                                    RangeLookup& lookup) {
  const Value value = values_[condition];
  SearchKeys keys;
  if (conditions_[condition]->is_list) {
    if (!is_compared_by(lists_[condition], name_of(column.collation))) {
      return;
    }
    for (const OwnedValue& each : lists_[condition]) {
      table_.append_equal_keys(column, affinity, Value(each.get()), keys);
    }
    return lookup.keep_any_of(keys);
  }
  if (value.is_null() || (value.type() != SQLITE_TEXT && column.by != SearchedBy::equal)) {
    return;
  }
  if (column.by == SearchedBy::equal) {
    table_.append_equal_keys(column, affinity, value, keys);
    return lookup.keep_any_of(keys);
  }
  if (column.by == SearchedBy::words) {
    std::string_view rest = value.text();
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
      keys.push_back(word_key(word, column.item));
    }
  } else if (table_.like().is_usual) {
    append_pattern_grams(value.text(), conditions_[condition]->op == SQLITE_INDEX_CONSTRAINT_GLOB,
                         column.item, keys);
  }
  for (const SearchKey key : keys) {
    lookup.keep_any_of({&key, 1});
  }
}

}  // namespace bloom
