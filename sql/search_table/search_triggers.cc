// The triggers of a search table: see the top of search_source.h.
#include <string>
#include <vector>

#include "sql/search_table/search_source.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

}  // namespace

bool SearchSource::has_autoincrement() const {
  int found = 0;
  sqlite3_table_column_metadata(db_, source_.schema().c_str(), name().c_str(), rowid_alias_.c_str(),
                                nullptr, nullptr, nullptr, nullptr, &found);
  return found != 0;
}

// A column that SQLite computes may change with any column, and an expression with those that it
// names.
std::vector<Trigger> SearchSource::triggers(const std::string& table) const {
  const std::string source = quoted_name(name());
  const std::string id = quoted_name(rowid_alias_);
  const std::string changed = quoted_name(link_.side_table(table));
  // 2^63 is no integer literal.
  const std::string last = !covered_ || *covered_ == kLowestRowid ? "(-9223372036854775807 - 1)"
                                                                  : std::to_string(*covered_);
  const auto block_of = [](const std::string& rowid) {
    return "(" + rowid + " >> " + std::to_string(kBlockBits) + ")";
  };
  // INSERT OR IGNORE makes the trigger cheaper: SQLite then needs no savepoint for each row. NOT
  // EXISTS is there because the user's statement can have an OR of its own, which applies within
  // triggers.
  const auto note = [&](const std::string& block) {
    const std::string if_missing =
        " WHERE NOT EXISTS (SELECT 1 FROM " + changed + " WHERE block = " + block + ");";
    return " INSERT OR IGNORE INTO " + changed + "(block) SELECT " + block + if_missing +
           " SELECT raise(ABORT, 'the changed row of a search table was not noted')" + if_missing;
  };
  const std::string new_id = "new." + id;
  const std::string largest = std::to_string(kHighestRowid);
  // SQLite takes less time for this than for max(), and an application can replace max().
  const std::string last_id =
      "(SELECT " + id + " FROM " + source + " ORDER BY " + id + " DESC LIMIT 1)";
  const std::string chosen = "(CASE WHEN " + last_id + " IS NULL THEN " + block_of("1") + " WHEN " +
                             last_id + " = " + largest + " THEN " + std::to_string(kAllBlocks) +
                             " ELSE " + block_of("(" + last_id + " + 1)") + " END)";
  // UPDATE OF fires only if SET has one of these names: the rowid has four.
  std::string named = " OF " + id + ", rowid, oid, _rowid_";
  // Cases, because a chain of OR exceeds a low SQLITE_LIMIT_EXPR_DEPTH: the schema cannot be read
  // then.
  std::string differs = " WHEN old." + id + " <> " + new_id;
  bool any_update = false;
  const auto note_column = [&](const std::string& sql) {
    named.append(", ").append(sql);
    differs.append(" THEN 1 WHEN old.").append(sql).append(" IS NOT new.").append(sql);
    differs.append(" COLLATE BINARY THEN 1 WHEN typeof(old.").append(sql);
    differs.append(") <> typeof(new.");
    differs.append(sql).append(")");
  };
  const Statement info(db_, table_info_sql());
  for (std::size_t i = 0; i < options_.items().size(); ++i) {
    if (options_.items()[i].expression.empty()) {
      const int column = source_column_of_item(i);
      any_update =
          any_update || column < 0 || columns_[static_cast<std::size_t>(column)].is_generated;
      note_column(item_sql_[i]);
      continue;
    }
    // As they are called now: columns_ has the names that the table was connected with.
    bool reads_none = true;
    Execution column(info);
    while (column.step()) {
      const std::string column_name(column.value(kInfoName).text());
      if (sqlite::may_name(item_sql_[i], column_name)) {
        reads_none = false;
        any_update = any_update || column.integer(kInfoHidden) != 0;
        note_column(quoted_name(column_name));
        // -0.0 and 0.0 are equal, and have different texts.
        differs.append(" THEN 1 WHEN typeof(new.")
            .append(quoted_name(column_name))
            .append(") = 'real'");
      }
    }
    any_update = any_update || reads_none;
  }
  const std::string on = " ON " + source + " WHEN " + new_id + " <= " + last;
  const std::string is_chosen_within = "(" + last_id + " NOT BETWEEN " + last + " AND " +
                                       std::to_string(kHighestRowid - 1) + ") IS NOT 0";
  // The covered rowids may all be less than -1.
  const std::string before = covered_ && *covered_ < -1
                                 ? " ON " + source + " WHEN CASE " + new_id + " WHEN -1 THEN " +
                                       is_chosen_within + " ELSE " + new_id + " <= " + last + " END"
                                 : on + " AND (" + new_id + " <> -1 OR " + is_chosen_within + ")";
  // AUTOINCREMENT chooses the rowid after the last one, or after that in sqlite_sequence, but not
  // less than 1. The rows of other tables there do no harm, and their names may change.
  const std::string next = block_of("(seq + 1)");
  const std::string note_sequences =
      " INSERT OR IGNORE INTO " + changed + "(block) SELECT DISTINCT " + next +
      " FROM (SELECT seq FROM sqlite_sequence UNION SELECT 0) WHERE " + new_id +
      " = -1 AND seq IS NOT NULL AND NOT EXISTS (SELECT 1 FROM " + changed +
      " WHERE block = " + next + ");";
  return {
      {table, kBeforeInsertSuffix, "INSERT" + before,
       note("(CASE " + new_id + " WHEN -1 THEN " + chosen + " ELSE " + block_of(new_id) + " END)") +
           (has_autoincrement() ? note_sequences : "")},
      {table, kAfterInsertSuffix, "INSERT" + on, note(block_of(new_id))},
      {table, kBeforeUpdateSuffix,
       "UPDATE" + (any_update ? on : named + on + " AND CASE" + differs + " THEN 1 END"),
       note(block_of(new_id))}};
}

}  // namespace bloom
