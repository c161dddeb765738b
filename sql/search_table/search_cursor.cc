// The queries of a bloom_search table.
#include <algorithm>
#include <string>

#include "core/support/error.h"
#include "sql/search_table/ranges/range_lookup.h"
#include "sql/search_table/search_match.h"
#include "sql/search_table/search_table.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::Context;
using sqlite::Execution;
using sqlite::OwnedValue;
using sqlite::quoted_column;
using sqlite::Statement;

// Returns whether reading these rows takes less time than a lookup that leaves some of them out.
bool is_short(RowidRange rows) {
  constexpr std::uint64_t kFewRows = 16;
  return static_cast<std::uint64_t>(rows.last) - static_cast<std::uint64_t>(rows.first) < kFewRows;
}

}  // namespace

std::unique_ptr<SearchTable::Search> SearchTable::take_search() {
  if (idle_searches_.empty()) {
    return std::make_unique<Search>(*this);
  }
  std::unique_ptr<Search> search = std::move(idle_searches_.back());
  idle_searches_.pop_back();
  return search;
}

void SearchTable::keep_search(std::unique_ptr<Search> search) noexcept {
  constexpr std::size_t kMaxIdle = 4;
  if (search->finish() && idle_searches_.size() < kMaxIdle) {
    // Without memory, it is not kept.
    sqlite::guard([&] { idle_searches_.push_back(std::move(search)); },
                  [](const sqlite::Failure&) {});
  }
}

SearchTable::Search::~Search() {
  execution_.reset();
  // Without memory, the statement is not kept.
  sqlite::guard([&] { keep_statement(); }, [](const sqlite::Failure&) {});
}

bool SearchTable::Search::finish() noexcept {
  constexpr std::size_t kFew = 64;
  const bool is_small = runs_.capacity() < kFew && owned_.capacity() < kFew && returned_.empty();
  execution_.reset();
  values_.clear();
  bound_.clear();
  lists_.clear();
  owned_.clear();
  maybes_in_a_row_ = 0;
  return is_small;
}

void SearchTable::Search::keep_statement() {
  if (statement_) {
    table_.idle_statements_.push_back({std::move(statement_key_), std::move(statement_)});
  }
}

void SearchTable::Search::start(int order, const char* idx_string, const Values& values) {
  table_.require_usable();
  table_.refresh_names_if_needed();
  table_.source_.require_same_columns();
  execution_.reset();
  if (filter_has_none(idx_string, values)) {
    return;
  }
  opened_ = table_.transaction_.now();
  order_ = order;
  read_plan(idx_string);
  conditions_.clear();
  values_.clear();
  lists_.clear();
  owned_.clear();
  for (int i = 0; i < values.size(); ++i) {
    const Condition& condition = plan_[static_cast<std::size_t>(i)];
    if (may_come_from_on_clause(condition.op) && table_.may_be_outer_join()) {
      continue;
    }
    const bool is_list = condition.is_list;
    lists_.push_back(is_list ? list_of(condition, values[i]) : std::vector<OwnedValue>());
    if (is_list && lists_.back().empty()) {
      return;
    }
    // In a join, the copies of integers would take a tenth of the time of a lookup.
    values_.push_back(values[i].type() == SQLITE_TEXT ? own(values[i]) : values[i]);
    conditions_.push_back(&condition);
  }
  run_ = 0;
  const Wanted wanted = read_conditions();
  runs_ = {wanted.rowids};
  if (wanted.is_none || wanted.rowids.first > wanted.rowids.last) {
    return;
  }
  list_by_index_ = nullptr;
  if (!wanted.has_index && !is_short(wanted.rowids)) {
    find_by_list();
  }
  const bool in_runs = !wanted.has_index && list_by_index_ == nullptr && !is_short(wanted.rowids) &&
                       look_up(table_.store_.load_config(), wanted);
  if (runs_.empty()) {
    return;
  }
  if (order_ == kDescending) {
    std::reverse(runs_.begin(), runs_.end());
  }
  prepare(in_runs);
  if (runs_.size() > 1 || list_by_index_ != nullptr) {
    std::transform(bound_.begin(), bound_.end(), bound_.begin(),
                   [&](const Value& value) { return own(value); });
  }
  start_run();
  read_row();
}

bool SearchTable::Search::filter_has_none(const char* idx_string, const Values& values) {
  constexpr unsigned kMany = 32;
  constexpr unsigned kEvery = 16;
  if (maybes_in_a_row_ > kMany && ++maybes_in_a_row_ % kEvery != 0) {
    return false;
  }
  const Answer answer = table_.look_up_in_filter(idx_string, values);
  maybes_in_a_row_ = answer == Answer::maybe ? maybes_in_a_row_ + 1 : 0;
  return answer == Answer::none;
}

Value SearchTable::Search::own(const Value& value) {
  owned_.push_back(value.copy());
  return Value(owned_.back().get());
}

// Finds the statement by what its text depends on, which takes less time than to write the text.
void SearchTable::Search::prepare(bool in_runs) {
  const RowidRange rows = runs_.front();
  const bool is_limited = rows.first != kLowestRowid || rows.last != kHighestRowid;
  form_ = in_runs                   ? Form::runs
          : rows.first == rows.last ? Form::one_row
          : is_limited              ? Form::one_run
                                    : Form::all_rows;
  std::string& key = wanted_statement_key_;
  key.assign(columns_text_)
      .append(1, static_cast<char>(form_))
      .append(1, static_cast<char>('0' + order_))
      .append(table_.source_.name())
      .append(1, '\0')
      .append(where_);
  if (statement_ && key == statement_key_) {
    return;
  }
  keep_statement();
  preparations_ = {};
  auto& free = table_.idle_statements_;
  statement_key_ = key;
  const auto found = std::find_if(free.begin(), free.end(), [&](const IdleStatement& each) {
    return each.key == statement_key_;
  });
  if (found != free.end()) {
    statement_ = std::move(found->statement);
    free.erase(found);
    return;
  }
  constexpr std::size_t kMaxFree = 16;
  if (free.size() > kMaxFree) {
    free.erase(free.begin());
  }
  statement_ = std::make_unique<Statement>(table_.db_, sql());
}

std::string SearchTable::Search::sql() const {
  const bool in_runs = form_ == Form::runs;
  const std::string id = quoted_column(table_.source_.rowid_alias());
  std::string sql = "SELECT " + id;
  for (int i = 0; i < table_.columns_.source_columns(); ++i) {
    const bool is_used = (columns_used_ >> std::min(i, kColumnsWithOwnBit) & 1U) != 0;
    sql.append(", ").append(is_used ? table_.columns_.sql(i) : "NULL");
  }
  sql.append(" FROM ").append(table_.source_.qualified()).append(in_runs ? " NOT INDEXED" : "");
  sql.append(" WHERE ");
  if (form_ == Form::all_rows) {
    sql.append("1");
  } else {
    sql.append(id).append(form_ == Form::one_row ? " = ?1" : " BETWEEN ?1 AND ?2");
  }
  sql.append(where_);
  if (in_runs || order_ != kNoOrder) {
    sql.append(" ORDER BY ").append(id).append(order_ == kDescending ? " DESC" : "");
  }
  return sql;
}

void SearchTable::Search::start_run() {
  execution_.reset();
  execution_.emplace(*statement_);
  if (form_ != Form::all_rows) {
    execution_->bind(1, runs_[run_].first);
  }
  if (form_ == Form::one_run || form_ == Form::runs) {
    execution_->bind(2, runs_[run_].last);
  }
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    execution_->bind(kFirstParameter + static_cast<int>(i), bound_[i]);
  }
  if (list_by_index_ != nullptr) {
    execution_->bind(index_parameter_, Value((*list_by_index_)[next_in_list_].get()));
  }
}

bool SearchTable::Search::step() {
  bool has_row = false;
  const auto outcome = sqlite::Outcome::of([&] { has_row = execution_->step(); });
  if (outcome.failed() || preparations_.have_changed(*execution_)) {
    table_.source_.require_same_names();
  }
  outcome.throw_failure();
  return has_row;
}

// Goes to the next row, in this run or a later one.
void SearchTable::Search::read_row() {
  table_.transaction_.require_not_undone(opened_);
  do {
    while (!step()) {
      if (++run_ == runs_.size()) {
        run_ = 0;
        if (list_by_index_ == nullptr || ++next_in_list_ == list_by_index_->size()) {
          execution_.reset();
          return;
        }
      }
      start_run();
    }
  } while (list_by_index_ != nullptr && !returned_.insert(rowid()).second);
}

void SearchTable::Search::next() { read_row(); }

std::int64_t SearchTable::Search::pending_rows(const SearchConfig& config) {
  RowidRanges ranges = table_.out_of_sync(config) ? RowidRanges{{kLowestRowid, kHighestRowid}}
                                                  : table_.source_.changed_rows();
  if (config.covered != kHighestRowid) {
    ranges.push_back({config.covered ? *config.covered + 1 : kLowestRowid, kHighestRowid});
  }
  normalize(ranges);
  const Statement count(table_.db_, "SELECT 1 FROM " + table_.source_.qualified() + " WHERE " +
                                        quoted_column(table_.source_.rowid_alias()) +
                                        " BETWEEN ?1 AND ?2");
  std::int64_t rows = 0;
  for (const RowidRange range : ranges) {
    Execution run(count);
    rows += static_cast<std::int64_t>(run.bind(1, range.first).bind(2, range.last).count_rows());
  }
  return rows;
}

// Computed for the rows that the query needs it for, because it may fail for others.
void SearchTable::Search::return_expression(sqlite3_context* raw, const std::string& sql) {
  if (!expression_ || expression_sql_ != sql) {
    expression_.emplace(table_.db_, "SELECT " + sql + " FROM " + table_.source_.qualified() +
                                        " WHERE " + quoted_column(table_.source_.rowid_alias()) +
                                        " = ?1");
    expression_sql_ = sql;
    preparations_of_expression_ = {};
  }
  Execution run(*expression_);
  const bool has_row = run.bind(1, rowid()).step();
  if (preparations_of_expression_.have_changed(run)) {
    table_.source_.require_same_names();
  }
  if (has_row) {
    run.value(0).set_result(raw);
  }
}

void SearchTable::Search::column(sqlite3_context* raw, int i) {
  const SearchColumns& columns = table_.columns_;
  if (i < columns.source_columns()) {
    return execution_->value(i + 1).set_result(raw);
  }
  if (i < columns.value_columns()) {
    return return_expression(raw, columns.sql(i));
  }
  if (!columns.has_property(i)) {
    // An UPDATE, which is refused later, reads the columns that it does not change.
    if (sqlite3_vtab_nochange(raw) == 0) {
      table_.refuse_hidden(table_.name());
    }
    return;
  }
  Context context(raw);
  const auto property = static_cast<std::size_t>(columns.property(i));
  hidden_columns()[property].set_result(*this, context);
}

std::uint64_t SearchTable::Search::bytes(const SearchConfig& config) {
  std::uint64_t chunks = 0;
  for (const Family f : kFamilies) {
    chunks += config.of(f).segments * config.of(f).chunks_per_segment();
  }
  const TableFilterConfig& filter = config.table_filter;
  return kChunkBytes * chunks + (filter.is_used() ? cell_bytes(filter.header.shape) : 0);
}

std::string SearchTable::Search::info() {
  const SearchConfig config = table_.store_.load_config();
  const FamilyConfig& keys = config.of(Family::values_and_words);
  const FamilyConfig& grams = config.of(Family::grams);
  const bool in_sync = !table_.out_of_sync(config);
  const auto member = [](const char* name, std::uint64_t value) {
    return ",\"" + std::string(name) + "\":" + std::to_string(value);
  };
  return "{\"in_sync\":" + std::string(in_sync ? "true" : "false") +
         member("key_ranges", keys.ranges) + member("like_ranges", grams.ranges) +
         member("pending_rows", static_cast<std::uint64_t>(pending_rows(config))) +
         member("whole_keys", config.table_filter.keys) + member("bytes", bytes(config)) +
         member("segments", keys.segments + grams.segments) +
         member("optimized_segments", keys.wide_segments + grams.wide_segments) + "}";
}

constexpr SearchTable::Search::Hidden SearchTable::Search::kHidden[] = {
    {SearchProperty::ranges, "ranges", "INTEGER",
     [](Search& c, Context& context) {
       const SearchConfig config = c.table_.store_.load_config();
       context.result_int64(as_integer(config.of(Family::values_and_words).ranges +
                                       config.of(Family::grams).ranges));
     }},
    {SearchProperty::pending_rows, "pending_rows", "INTEGER",
     [](Search& c, Context& context) {
       context.result_int64(c.pending_rows(c.table_.store_.load_config()));
     }},
    {SearchProperty::bytes, "bytes", "INTEGER",
     [](Search& c, Context& context) {
       context.result_int64(as_integer(bytes(c.table_.store_.load_config())));
     }},
    {SearchProperty::info, "info", "TEXT",
     [](Search& c, Context& context) { context.result_text(c.info()); }},
};

std::span<const SearchTable::Search::Hidden> SearchTable::Search::hidden_columns() {
  static_assert(lists_all_in_order(kHidden, SearchProperty::ranges, SearchProperty::end));
  return kHidden;
}

}  // namespace bloom
