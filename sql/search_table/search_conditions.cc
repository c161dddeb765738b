// The conditions of a query on a bloom_search table: which rows must be read, and which of the
// conditions the statement on the source has.
#include <algorithm>
#include <string>

#include "sql/search_table/ranges/search_lookup.h"
#include "sql/search_table/search_table.h"
#include "sql/search_table/search_words.h"
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

SearchTable::Cursor::Wanted SearchTable::Cursor::read_conditions(std::string& where) {
  Wanted wanted;
  std::string last;
  for (std::size_t i = 0; i < plan_.conditions.size() && i < values_.size(); ++i) {
    const SearchCondition& condition = plan_.conditions[i];
    const Value value(values_[i].get());
    // Before its text is read: in a database in UTF-16, that takes the last byte from a text of an
    // odd number of bytes.
    OwnedValue parameter = value.copy();
    const bool allows_null = condition.op == SQLITE_INDEX_CONSTRAINT_IS ||
                             condition.op == SQLITE_INDEX_CONSTRAINT_ISNOT ||
                             is_null_test(condition.op) || condition.is_list;
    wanted.is_none = wanted.is_none || (value.is_null() && !allows_null);
    if (condition.column == kRowidColumn && value.type() == SQLITE_INTEGER) {
      limit_rowids(condition, value.integer(), wanted);
    }
    const std::string operand = sql_of(condition);
    std::string sql;
    if (push_down(condition, value, operand, sql)) {
      const bool is_index =
          is_equality(condition.op) && condition.column >= 0 &&
          condition.column < table_.columns_.source_columns() &&
          table_.source_.has_index_on(
              table_.source_.columns()[as_size(static_cast<std::uint64_t>(condition.column))].name,
              condition.collation);
      wanted.has_index = wanted.has_index || is_index;
      if (!is_null_test(condition.op)) {
        bound_.push_back(std::move(parameter));
      }
    } else if (condition.op == SQLITE_INDEX_CONSTRAINT_EQ && !condition.is_list) {
      // For x IN (...), old SQLite takes a NULL of a virtual table for each of the values (3.31).
      sql = operand + " IS NOT NULL";
    } else {
      continue;
    }
    // Last: an expression may fail for rows that the other conditions refuse.
    (condition.column >= table_.columns_.source_columns() ? last : where)
        .append(" AND ")
        .append(sql);
  }
  where += last;
  return wanted;
}

void SearchTable::Cursor::limit_rowids(const SearchCondition& condition, std::int64_t value,
                                       Wanted& wanted) {
  RowidRange& rows = wanted.rowids;
  switch (condition.op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS:
      rows = {std::max(rows.first, value), std::min(rows.last, value)};
      return;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      rows.first = std::max(rows.first, value);
      return;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      rows.last = std::min(rows.last, value);
      return;
    default:
      return;
  }
}

std::string SearchTable::Cursor::sql_of(const SearchCondition& condition) const {
  if (condition.column == kRowidColumn) {
    return sqlite::quoted_column(table_.source_.rowid_alias());
  }
  const std::string sql = table_.columns_.sql(condition.column);
  // The hidden column of an expression has no affinity, whatever the expression has.
  return condition.column < table_.columns_.source_columns() ? sql : "+" + sql;
}

// Returns whether the statement on the source can have the condition on `column`, and sets `sql`.
// It must return every row that the user's condition accepts. SQLite converts the operands of a
// comparison by the affinity of both, but a parameter has none: that of the user's value is known
// only for a literal.
bool SearchTable::Cursor::push_down(const SearchCondition& condition, const Value& value,
                                    const std::string& column, std::string& sql) const {
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
    sql = std::string(kWordsMatch.name) + "(" + parameter + ", " + column + ")";
    return true;
  }
  if (is_pattern) {
    // The + keeps SQLite from looking up the prefix in an index: in a database in UTF-16 it misses
    // some rows then (3.40).
    sql = std::string("+").append(column).append(operator_of(op)).append(parameter);
    return true;
  }
  if (is_null_test(op)) {
    sql = column + operator_of(op);
    return true;
  }
  // The left COLLATE decides: an expression may have one of its own, which the column has not.
  sql = column + " COLLATE " + quoted_name(condition.collation) + operator_of(op) + parameter;
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
bool SearchTable::Cursor::may_be_of_like_with_escape(const SearchCondition& condition,
                                                     const Value& value) const {
  const bool is_bound_of_prefix =
      condition.op == SQLITE_INDEX_CONSTRAINT_GE || condition.op == SQLITE_INDEX_CONSTRAINT_LT;
  return is_bound_of_prefix && value.type() == SQLITE_TEXT &&
         (collation_named(condition.collation) == Collation::nocase || !table_.like().ignores_case);
}

std::vector<OwnedValue> SearchTable::Cursor::list_of(const SearchCondition& condition,
                                                     const Value& argument) {
  const SearchConfig none;
  const SearchFacts facts = table_.facts(none);
  const SearchedColumn* const column = table_.probed_column(facts, condition);
  std::optional<bool> is_text_comparable;
  const auto can_probe = [&](const Value& value) {
    if (value.type() != SQLITE_TEXT) {
      return true;
    }
    if (!is_text_comparable) {
      is_text_comparable =
          table_.list_collations_.are_within(name_of(column->collation), plan_text_);
    }
    return *is_text_comparable;
  };
  std::vector<OwnedValue> list;
  argument.for_each_in_list([&](const Value& value) {
    const bool is_probed = column != nullptr && !value.is_null() && can_probe(value) &&
                           table_.table_filter_.is_ready();
    if (!value.is_null() &&
        !(is_probed && table_.surely_lacks(*column, facts.affinity(condition.column), value))) {
      list.push_back(value.copy());
    }
  });
  return list;
}

bool SearchTable::Cursor::is_compared_by(const std::vector<OwnedValue>& list,
                                         std::string_view collation) {
  return std::none_of(
             list.begin(), list.end(),
             [](const OwnedValue& each) { return Value(each.get()).type() == SQLITE_TEXT; }) ||
         table_.list_collations_.are_within(collation, plan_text_);
}

void SearchTable::Cursor::find_by_list(std::string& where) {
  for (std::size_t i = 0; i < plan_.conditions.size() && order_ == kNoOrder; ++i) {
    const SearchCondition& condition = plan_.conditions[i];
    if (condition.is_list && can_use_index(i) &&
        (list_by_index_ == nullptr || lists_[i].size() < list_by_index_->size())) {
      list_by_index_ = &lists_[i];
      index_parameter_ = kFirstParameter + static_cast<int>(bound_.size());
      next_in_list_ = 0;
      returned_.clear();
    }
  }
  if (list_by_index_ != nullptr) {
    const SearchCondition& condition =
        plan_.conditions[static_cast<std::size_t>(list_by_index_ - lists_.data())];
    where.append(" AND ").append(sql_of(condition)).append(" = ?");
    where.append(std::to_string(index_parameter_)).append(" COLLATE ");
    where.append(quoted_name(condition.collation));
  }
}

// As push_down(): the index must find all rows that may be equal, whatever affinity the right side
// has. SQLite has converted the list by that affinity and by the one of the column, so a text that
// is compared with numbers is no text any more.
bool SearchTable::Cursor::can_use_index(std::size_t condition) {
  const SearchCondition& list = plan_.conditions[condition];
  if (list.column >= table_.columns_.source_columns()) {
    return false;
  }
  const SourceColumn& column = table_.source_.columns()[static_cast<std::size_t>(list.column)];
  return table_.source_.has_index_on(column.name, list.collation) &&
         std::all_of(lists_[condition].begin(), lists_[condition].end(),
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

bool SearchTable::Cursor::look_up(const SearchConfig& config, Wanted wanted) {
  // A function of the host can search while a command makes ranges of rows that had others.
  if (!config.covered || table_.shared_.building != 0 || table_.out_of_sync(config)) {
    return false;
  }
  std::optional<RowidRanges> found;
  for (const Family f : kFamilies) {
    if (!config.of(f).is_used()) {
      continue;
    }
    SearchLookup lookup(table_.store_, config.of(f), f);
    for (const SearchedColumn& column : table_.searched_[static_cast<std::size_t>(f)]) {
      for (std::size_t i = 0; i < plan_.conditions.size(); ++i) {
        const SearchCondition& condition = plan_.conditions[i];
        const SearchFacts facts = table_.facts(config);
        if (condition.column >= 0 &&
            term_for(facts, condition.op, condition.column, condition.collation) ==
                static_cast<int>(column.term)) {
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

void SearchTable::Cursor::narrow_by(const SearchedColumn& column, Affinity affinity,
                                    std::size_t condition, SearchLookup& lookup) {
  const Value value(values_[condition].get());
  SearchKeys keys;
  if (plan_.conditions[condition].is_list) {
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
      keys.push_back(word_key(word, column.term));
    }
  } else if (table_.like().is_usual) {
    append_pattern_grams(value.text(),
                         plan_.conditions[condition].op == SQLITE_INDEX_CONSTRAINT_GLOB,
                         column.term, keys);
  }
  for (const SearchKey key : keys) {
    lookup.keep_any_of({&key, 1});
  }
}

}  // namespace bloom
