// The commands of a bloom_search table.
#include <algorithm>

#include "core/support/error.h"
#include "sql/search_table/ranges/range_lookup.h"
#include "sql/search_table/ranges/row_receiver.h"
#include "sql/search_table/search_table.h"
#include "sql/search_table/table_filter/table_filter_builder.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::SqliteError;
using sqlite::Statement;

// Ranges in ascending order, which are compared with rows in ascending order.
class AscendingRanges {
 public:
  explicit AscendingRanges(const RowidRanges& ranges) : next_(ranges.begin()), end_(ranges.end()) {}
  bool include(std::int64_t rowid) {
    next_ = std::find_if(next_, end_, [&](RowidRange range) { return range.last >= rowid; });
    return next_ != end_ && next_->first <= rowid;
  }

 private:
  RowidRanges::const_iterator next_;
  RowidRanges::const_iterator end_;
};

// Counts up while it lives.
class Counted {
 public:
  explicit Counted(int& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  int& count_;
};

bool overlap(RowidRange a, RowidRange b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

constexpr Command<SearchTable> SearchTable::kCommands[] = {
    {"summarize", nullptr, [](SearchTable& t, const Value&) { t.summarize(); }},
    {"rebuild", nullptr, [](SearchTable& t, const Value&) { t.rebuild(); }},
    {"optimize", nullptr, [](SearchTable& t, const Value&) { t.optimize(); }},
    {"integrity-check", nullptr, [](SearchTable& t, const Value&) { t.check_integrity(); }},
};

void SearchTable::run(const Value& command) {
  find_command<SearchTable>(kCommands, command).run(*this, command);
}

std::optional<std::string> SearchTable::out_of_sync(const SearchConfig& config) {
  if (!source_.still_passes()) {
    const ShadowTables& tables = store_.tables();
    sqlite::require_readable(db_, tables.schema(), tables.name("ranges"));
  }
  return source_.out_of_sync(config.covered);
}

void SearchTable::require_in_sync(const SearchConfig& config) {
  if (const auto problem = out_of_sync(config)) {
    fail(*problem);
  }
}

void SearchTable::summarize() {
  source_.require_not_being_written(transaction_.is_only_writer());
  SearchConfig config = store_.load_config();
  require_in_sync(config);
  cover(config, source_.changed_rows());
}

void SearchTable::rebuild() {
  source_.require_not_being_written(transaction_.is_only_writer());
  source_.require_items();
  sqlite::require_readable(db_, store_.tables().schema(), store_.tables().name("ranges"));
  source_.require_supported();
  SearchConfig config = store_.load_config();
  for (const Family f : kFamilies) {
    store_.clear(f, config.of(f));
  }
  store_.table_filter().clear();
  config.table_filter = {};
  config.covered.reset();
  config.most_rows_read = 0;
  source_.make_objects();
  config.guard = source_.guard();
  cover(config, {});
}

void SearchTable::cover(SearchConfig& config, const RowidRanges& changed) {
  const Counted building(shared_.building);
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  const Statement select(
      db_, "SELECT " + id + " FROM " + source_.qualified() + " ORDER BY " + id + " DESC LIMIT 1");
  std::optional<std::int64_t> last = config.covered;
  {
    Execution run(select);
    if (run.step() && run.type(0) == SQLITE_INTEGER && (!last || *last < run.integer(0))) {
      last = run.integer(0);
    }
  }
  if (last) {
    const std::int64_t first = !config.covered
                                   ? kLowestRowid
                                   : *config.covered + (*config.covered == kHighestRowid ? 0 : 1);
    const RowidRange appended =
        config.covered == last ? RowidRange{kHighestRowid, kLowestRowid} : RowidRange{first, *last};
    RowidRanges covered_changes;
    for (const RowidRange range : changed) {
      if (config.covered && range.first <= *config.covered) {
        covered_changes.push_back({range.first, std::min(range.last, *config.covered)});
      }
    }
    for (const Family f : kFamilies) {
      if (config.of(f).is_used()) {
        cover(f, config, covered_changes, appended);
      }
    }
    if (appended.first <= appended.last) {
      covered_changes.push_back(appended);
    }
    cover_table_filter(config, covered_changes, *last);
  }
  if (config.covered != last) {
    config.covered = last;
    source_.set_covered(last);
  }
  source_.forget_changes();
  store_.save_config(config);
}

// Reads the affected ranges again as a whole. The last range is one of them if rows were appended,
// so that it fills up.
void SearchTable::cover(Family f, SearchConfig& config, const RowidRanges& changed,
                        RowidRange appended) {
  const bool has_appended = appended.first <= appended.last;
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  const Statement select(
      db_, "SELECT 1 FROM " + source_.qualified() + " WHERE " + id + " BETWEEN ?1 AND ?2 LIMIT 1");
  const auto has_rows = [&](RowidRange rows) {
    return Execution(select).bind(1, rows.first).bind(2, rows.last).step();
  };
  RowidRanges todo = changed;
  if (has_appended) {
    todo.push_back(appended);
  }
  normalize(todo);
  const auto ranges = store_.ranges(f);
  auto next = todo.begin();
  RowidRanges all = todo;
  for (const StoredRange& range : ranges) {
    while (next != todo.end() && next->last < range.rows.first) {
      ++next;
    }
    const bool is_affected = (next != todo.end() && overlap(*next, range.rows)) ||
                             (has_appended && &range == &ranges.back());
    if (is_affected) {
      all.push_back(range.rows);
    }
    if (is_affected || !has_rows(range.rows)) {
      store_.remove_range(f, range.slot);
      --config.of(f).ranges;
    }
  }
  normalize(all);
  RangeBuilder builder(store_, source_, f, searched_[static_cast<std::size_t>(f)], config.of(f));
  for (const RowidRange& rows : all) {
    builder.read(rows);
  }
  const std::uint64_t rows = builder.finish();
  config.most_rows_read = std::max(config.most_rows_read, rows);
}

// The filter over the whole table has the columns that had an index when it was made. It is made
// again if another column has got one.
void SearchTable::cover_table_filter(SearchConfig& config, const RowidRanges& rows,
                                     std::int64_t last) {
  const auto& all = searched_[static_cast<std::size_t>(Family::values_and_words)];
  std::vector<KeyRule> wanted;
  std::copy_if(all.begin(), all.end(), std::back_inserter(wanted), [&](const KeyRule& each) {
    return each.by == SearchedBy::equal && source_.has_index_on_item(each.item);
  });
  std::vector<KeyRule> own = config.table_filter.columns_of(all);
  if (wanted.empty()) {
    store_.table_filter().clear();
    config.table_filter = {};
    return;
  }
  const bool has_all = TableFilterConfig::describe(own) == config.table_filter.columns &&
                       std::all_of(wanted.begin(), wanted.end(), [&](const KeyRule& each) {
                         return config.table_filter.has(each);
                       });
  const auto outcome = sqlite::Outcome::of([&] {
    TableFilterBuilder builder(store_.table_filter(), source_, config.table_filter);
    if (!has_all || !builder.add(std::move(own), rows)) {
      builder.build(std::move(wanted), last);
    }
  });
  throw_unless_row_failed(outcome);
  if (outcome.failed()) {  // a generated column fails for a row
    store_.table_filter().clear();
    config.table_filter = {};
  }
}

// See GroupTable::optimize(). Segments in _wide whose ranges are gone are not used again, so a
// table that has many of them is built again.
void SearchTable::optimize() {
  SearchConfig config = store_.load_config();
  for (const Family f : kFamilies) {
    FamilyConfig& family = config.of(f);
    if (family.wide_segments != 0 && family.ranges * 2 < family.segments * kSegmentFilters) {
      return rebuild();
    }
    if (family.segments > std::uint64_t{2} * family.header.shape.hashes &&
        family.segments != family.wide_segments) {
      store_.widen(f, family);
    }
  }
  store_.save_config(config);
}

void SearchTable::check_integrity() {
  require_usable();
  source_.refresh_names();
  source_.require_same_columns();
  const SearchConfig config = store_.load_config();
  store_.check(config);
  source_.require_not_being_written(/*is_only_writer=*/true);
  if (const auto problem = out_of_sync(config)) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, *problem);
  }
  const RowidRanges changed = source_.changed_rows();
  for (const Family f : kFamilies) {
    if (config.of(f).is_used() && config.covered) {
      check_rows(config, f, changed);
    }
  }
  if (config.table_filter.is_used() && config.covered) {
    check_table_filter(config, changed);
  }
}

// Every covered row is in a range, or noted as changed.
void SearchTable::check_rows(const SearchConfig& config, Family f, const RowidRanges& changed) {
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  const Statement select(db_, "SELECT " + id + " FROM " + source_.qualified() +
                                  " NOT INDEXED WHERE " + id + " <= ?1 ORDER BY " + id);
  const auto ranges = store_.ranges(f);
  auto range = ranges.begin();
  AscendingRanges changes(changed);
  Execution run(select);
  run.bind(1, *config.covered);
  while (run.step()) {
    const std::int64_t rowid = run.integer(0);
    while (range != ranges.end() && range->rows.last < rowid) {
      ++range;
    }
    if (!changes.include(rowid) && (range == ranges.end() || rowid < range->rows.first)) {
      throw_damaged("row " + std::to_string(rowid) + " is in no range");
    }
  }
  for (const StoredRange& each : ranges) {
    check_range(config.of(f), f, each, changed);
  }
}

// The rows that are not noted as changed have all their keys in the filter over the whole table.
void SearchTable::check_table_filter(const SearchConfig& config, const RowidRanges& changed) {
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  const auto columns =
      config.table_filter.columns_of(searched_[static_cast<std::size_t>(Family::values_and_words)]);
  std::string sql = "SELECT " + id;
  for (const KeyRule& column : columns) {
    sql.append(", ").append(source_.sql_of_item(column.item));
  }
  const Statement select(db_, sql + " FROM " + source_.qualified() + " NOT INDEXED WHERE " + id +
                                  " <= ?1 ORDER BY " + id);
  const ChunkedFilter filter(config.table_filter.header.shape);
  TableFilterChunks chunks(store_.table_filter());
  chunks.reset(config.table_filter.header.shape);
  AscendingRanges changes(changed);
  KeySet keys;
  Execution run(select);
  run.bind(1, *config.covered);
  while (run.step()) {
    const std::int64_t rowid = run.integer(0);
    if (changes.include(rowid)) {
      continue;
    }
    keys.clear();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      append_keys(columns[i], run.value(static_cast<int>(i) + 1), false, keys);
    }
    if (!std::all_of(keys.keys().begin(), keys.keys().end(),
                     [&](SearchKey key) { return filter.may_contain(hash_of(key), chunks); })) {
      throw_damaged("row " + std::to_string(rowid) +
                    " has a key that the filter over the whole table lacks");
    }
  }
}

// An expression may fail for a row. Such a range says "maybe" to every key. Requires: `changed` is
// normalized.
void SearchTable::check_range(const FamilyConfig& config, Family f, const StoredRange& range,
                              const RowidRanges& changed) {
  const auto& searched = searched_[static_cast<std::size_t>(f)];
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  std::string sql = "SELECT " + id;
  for (const KeyRule& column : searched) {
    sql.append(", ").append(source_.sql_of_item(column.item));
  }
  const Statement select(db_, sql + " FROM " + source_.qualified() + " NOT INDEXED WHERE " + id +
                                  " BETWEEN ?1 AND ?2");
  const Filter filter = store_.segments(f).filter_of(config, range.slot);
  const auto outcome = sqlite::Outcome::of([&] {
    KeySet keys;
    Execution run(select);
    run.bind(1, range.rows.first).bind(2, range.rows.last);
    while (run.step()) {
      const std::int64_t rowid = run.integer(0);
      const auto next =
          std::partition_point(changed.begin(), changed.end(),
                               [&](const RowidRange& each) { return each.last < rowid; });
      if (next != changed.end() && next->first <= rowid) {
        continue;
      }
      keys.clear();
      for (std::size_t i = 0; i < searched.size(); ++i) {
        append_keys(searched[i], run.value(static_cast<int>(i) + 1), false, keys);
      }
      if (!std::all_of(keys.keys().begin(), keys.keys().end(),
                       [&](SearchKey key) { return filter.may_contain(hash_of(key)); })) {
        throw_damaged("row " + std::to_string(rowid) +
                      " has a key that the filter of its range lacks");
      }
    }
  });
  throw_unless_row_failed(outcome);
}

}  // namespace bloom
