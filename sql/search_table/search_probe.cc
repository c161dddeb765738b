// Lookups of single values: the filter over the whole table says that there is no row, or an index
// of the source finds the rows.
#include <algorithm>
#include <memory>
#include <utility>

#include "sql/search_table/search_table.h"
#include "sql/sqlite/guard.h"

namespace bloom {

// Several keys if the source may have the value in several forms. None for NULL.
void SearchTable::append_equal_keys(const KeyRule& column, Affinity affinity, const Value& value,
                                    SearchKeys& keys) {
  const Key key(value);
  if (key.is_null()) {
    return;
  }
  keys.push_back(equal_key(key.bytes(), column.collation, column.item));
  if (key.is_noncanonical_number()) {
    to_number_.convert(key.bytes(), [&](const Value& number) {
      keys.push_back(equal_key(Key(number).bytes(), column.collation, column.item));
    });
  }
  if (key.is_number() && !is_numeric(affinity)) {
    keys.push_back(marker_key(column.item));
  }
}

// A statement looks up many values by one plan.
void SearchTable::find_filter_conditions(const char* plan) {
  filter_conditions_.clear();
  filtered_plan_ = plan;
  SearchConfig none;
  const SearchFacts facts = this->facts(none);
  int argument = 0;
  for (const SearchCondition& condition : read_search_plan(plan).conditions) {
    const KeyRule* const column = condition.is_list ? nullptr : column_for_filter(facts, condition);
    if (column != nullptr) {
      filter_conditions_.push_back(
          {argument, column, facts.affinity(columns_.column_of_item(column->item))});
    }
    ++argument;
  }
}

const KeyRule* SearchTable::column_for_filter(const SearchFacts& facts,
                                              const SearchCondition& condition) {
  const bool is_rowid = condition.column == kRowidColumn;
  const int column = is_rowid ? source_.find(source_.rowid_alias()) : condition.column;
  const int item = is_equality(condition.op) && column >= 0 && column < columns_.source_columns()
                       ? item_for(facts, condition.op, column, condition.collation)
                       : -1;
  if (item < 0 ||
      (!is_rowid && !source_.has_index_on(source_.columns()[static_cast<std::size_t>(column)].name,
                                          condition.collation))) {
    return nullptr;
  }
  const auto& all = searched_[static_cast<std::size_t>(Family::values_and_words)];
  return &*std::find_if(all.begin(), all.end(), [&](const KeyRule& each) {
    return each.item == static_cast<std::size_t>(item);
  });
}

// NULL has no keys: x IS NULL may find rows.
SearchTable::Answer SearchTable::look_up_in_filter(const char* plan, const Values& values) {
  if (filtered_plan_ != plan) {
    find_filter_conditions(plan);
  }
  if (filter_conditions_.empty() || !table_filter_.make_ready()) {
    return Answer::unknown;
  }
  // Reading the pending rows may call functions of the host, which may look up by another plan.
  if (filtered_plan_ != plan) {
    find_filter_conditions(plan);
  }
  const bool none = std::any_of(
      filter_conditions_.begin(), filter_conditions_.end(), [&](const FilterCondition& each) {
        return surely_lacks(*each.column, each.affinity, values[each.argument]);
      });
  return none ? Answer::none : Answer::maybe;
}

bool SearchTable::surely_lacks(const KeyRule& column, Affinity affinity, const Value& value) {
  if (!table_filter_.has(column)) {
    return false;
  }
  filter_keys_.clear();
  append_equal_keys(column, affinity, value, filter_keys_);
  return !filter_keys_.empty() && !table_filter_.may_have(filter_keys_);
}

// If an authorizer hides the list, or this SQLite has none, there may be such a function.
bool SearchTable::has_own_like() const {
  enum { kName, kIsBuiltIn };
  bool found = false;
  const auto outcome = sqlite::Outcome::of([&] {
    const sqlite::Statement list(db_, "PRAGMA function_list");
    sqlite::Execution run(list);
    while (!found && run.step()) {
      const std::string name(run.value(kName).text());
      found = run.integer(kIsBuiltIn) == 0 && (sqlite3_stricmp(name.c_str(), "like") == 0 ||
                                               sqlite3_stricmp(name.c_str(), "glob") == 0);
    }
  });
  if (outcome.code() == SQLITE_AUTH) {
    return true;
  }
  outcome.throw_failure();
  return found;
}

void SearchTable::forget_like() {
  must_test_like_ = true;
  idle_searches_.clear();
  std::erase_if(idle_statements_, [](const IdleStatement& each) {
    return sqlite::mentions(each.key, " LIKE ") || sqlite::mentions(each.key, " GLOB ");
  });
}

// The test runs an own LIKE, which may prepare and run statements on the table. It compares
// rows, because a chain of OR exceeds a low SQLITE_LIMIT_EXPR_DEPTH.
SearchTable::Like SearchTable::like() {
  std::unique_ptr<sqlite::Statement> test = std::move(like_test_);
  if (std::exchange(must_test_like_, false) || !test) {
    replaced_like_.preparations = -1;
    test = std::make_unique<sqlite::Statement>(
        db_,
        "SELECT (char(8490) LIKE 'k', char(196) LIKE char(228), char(233) LIKE 'e', 'abc' LIKE "
        "'b', 'b' LIKE '.', 'b' LIKE '[a-c]', 'b' LIKE '*', 'ss' LIKE char(223), '' LIKE "
        "'abcd', 'xabcdx' LIKE 'abcd', 'dcba' LIKE '%abcd%', 'abed' LIKE 'abcd', 'A' GLOB 'a', "
        "char(196) GLOB char(228), 'b' GLOB '%', 'b' GLOB '_', 'b' GLOB '.', 'abc' GLOB 'b', "
        "'dcba' GLOB '*abcd*', '' GLOB 'abcd') IS (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
        "0, 0, 0, 0, 0), 'a' LIKE 'A'");
  }
  Like like{};
  {
    sqlite::Execution run(*test);
    run.step();
    like.ignores_case = run.integer(1) != 0;
    // SQLite prepares the statement again after one of its functions was replaced.
    if (replaced_like_.preparations != run.repreparations()) {
      replaced_like_ = {run.repreparations(), has_own_like()};
    }
    // PRAGMA case_sensitive_like replaces LIKE as well: what another LIKE does cannot be known.
    like.is_usual = run.integer(0) != 0 && !replaced_like_.is_replaced;
  }
  like_test_ = std::move(test);
  return like;
}

}  // namespace bloom
