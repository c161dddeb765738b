// The plan of a query on a bloom_search table: its conditions that help to find the rows. SQLite
// checks all conditions again, so a plan may return too many rows, but never too few.
//
// idxStr has the plan for readers of EXPLAIN QUERY PLAN, which shows all of it, followed by what
// the cursor needs:
//   like(msg) AND equal(user) [%3 =1':NOCASE 1f]
// Within the brackets: the conditions in the order of the arguments, here msg LIKE ? and user =
// 'y'. A condition has one character for its operator (kOperators in search_plan.cc), its column
// (none: the rowid), ' for a literal or , for a list, and its collation unless that is BINARY. The
// last number is the mask of the columns that the query uses, in hexadecimal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/search_table/ranges/search_store.h"
#include "sql/search_table/search_columns.h"
#include "sql/sqlite/api.h"
#include "sql/vtab/key_constraint.h"

namespace bloom {

// Returns whether SQLite may pass conditions of this operator that do not apply to all rows. Before
// 3.54 it passes `a.x LIKE 'y'` to `a` in `a LEFT JOIN b ON a.x LIKE 'y'`.
bool may_come_from_on_clause(int op);

inline constexpr int kRowidColumn = -1;

struct SearchCondition {
  int op;  // SQLITE_INDEX_CONSTRAINT_...
  int column;
  bool is_literal;
  bool is_list;  // column IN (...): the value is a list
  std::string collation;
};

// idxNum.
enum SearchOrder { kNoOrder = 0, kAscending = 1, kDescending = 2 };

struct SearchPlan {
  std::vector<SearchCondition> conditions;
  std::uint64_t columns_used = 0;  // as sqlite3_index_info::colUsed
};

// Returns the collation that the keys of a column of the option `equal` have.
Collation collation_of_keys(const std::string& collation);

// What xBestIndex knows about a table.
struct SearchFacts {
  const SearchColumns& columns;
  const SearchOptions& options;
  const SearchSource& source;
  const SearchConfig& config;

  // The affinity of a column of the table. The columns of expressions have none.
  Affinity affinity(int column) const {
    return column < columns.source_columns()
               ? source.columns()[static_cast<std::size_t>(column)].affinity
               : Affinity::blob;
  }
  // The collation of the keys of a column.
  Collation collation(int column) const {
    return column < columns.source_columns()
               ? collation_of_keys(source.columns()[static_cast<std::size_t>(column)].collation)
               : Collation::binary;
  }
};

// Returns the index in SearchOptions::items() of the item whose keys can answer the condition; -1
// for none.
int item_for(const SearchFacts& facts, int op, int column, std::string_view collation);
void choose_search_plan(sqlite3_index_info& info, const SearchFacts& facts);
SearchPlan read_search_plan(std::string_view text);

}  // namespace bloom
