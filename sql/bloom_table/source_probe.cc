#include "sql/bloom_table/source_probe.h"

#include <algorithm>
#include <string>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"

namespace bloom {

// SQLite prepares a statement again after a change of the schema or of the authorizer: it could
// then read another table, scan, or read NULL in place of the column. So its result does not count.
// With SQLITE_ENABLE_STAT4, it also does so when a value is bound that the plan depends on: hence
// (SELECT ?1).
std::optional<bool> SourceProbe::find(const sqlite::Value& value) {
  std::optional<bool> found;
  const auto outcome = sqlite::Outcome::of([&] {
    if (select_ || prepare()) {
      sqlite::Execution run(*select_);
      const bool has_row = run.bind(1, value).step();
      if (run.repreparations() == 0) {
        found = has_row;
      }
    }
  });
  if (!found) {
    select_.reset();
  }
  if (outcome.code() == SQLITE_NOMEM || outcome.code() == SQLITE_INTERRUPT) {
    outcome.throw_failure();
  }
  return found;
}

bool SourceProbe::prepare() {
  const SchemaReader::State now = source_.reader().state();
  if (unusable_in_ == now) {
    return false;
  }
  unusable_in_ = now;
  const std::vector<IndexedColumn> indexed = indexed_columns(source_);
  if (std::none_of(indexed.begin(), indexed.end(), [&](const IndexedColumn& index) {
        return index.is(source_.names().columns.front(), std::string(name_of(source_.collation())));
      })) {
    return false;
  }
  const std::string column = source_.columns_sql("t");
  sqlite::require_readable(source_.db(), source_.schema(), source_.names().table, column);
  select_.emplace(source_.db(), "SELECT 1 FROM " + source_.qualified(source_.names().table) +
                                    " AS t WHERE " + column + " = (SELECT ?1)");
  unusable_in_.reset();
  return true;
}

}  // namespace bloom
