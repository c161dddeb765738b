#include "sql/search_table/table_filter/table_filter_lookup.h"

#include <algorithm>

#include "sql/search_table/ranges/range_lookup.h"
#include "sql/search_table/ranges/row_receiver.h"
#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

constexpr std::uint64_t kRowsPerLookup = 4;
constexpr std::uint64_t kMostPendingRows = 100'000;

}  // namespace

TableFilterLookup::TableFilterLookup(SearchStore& store, SearchSource& source,
                                     const std::vector<KeyRule>& columns)
    : store_(store),
      source_(source),
      columns_(columns),
      database_(store.tables().db(), store.tables().schema()),
      chunks_(store.table_filter()) {}

void TableFilterLookup::expire() {
  state_ = State::unknown;
  lookups_ = 0;
  next_try_ = kFirstTry;
  database_.read_uncommitted().statement_was_prepared();
}

bool TableFilterLookup::make_ready() {
  const auto version = is_preparing_ ? std::nullopt : database_.version_of_settled_rows();
  if (!version) {
    return false;
  }
  if (version != version_) {
    version_ = version;
    state_ = State::unknown;
    lookups_ = 0;
    next_try_ = kFirstTry;
  }
  if (state_ == State::unknown && ++lookups_ >= next_try_) {
    next_try_ *= kRowsPerLookup;
    is_preparing_ = true;
    const auto outcome = sqlite::Outcome::of([&] { prepare(); });
    is_preparing_ = false;
    outcome.throw_failure();
  }
  return state_ == State::ready;
}

// The state stays unknown if this throws, and if the filter cannot answer yet. A generated column
// may call a function of the host that looks keys up meanwhile, without this filter.
void TableFilterLookup::prepare() {
  const SearchConfig config = store_.load_config();
  filter_columns_ = config.table_filter.columns_of(columns_);
  if (filter_columns_.empty() || !config.covered || !source_.is_utf8() ||
      source_.out_of_sync(config.covered)) {
    state_ = State::unusable;
    return;
  }
  has_item_.assign(source_.item_count(), false);
  for (const KeyRule& column : filter_columns_) {
    has_item_[column.item] = true;
  }
  // With a shared cache, another connection can commit meanwhile.
  if (!read_pending(config) || database_.data_version() != version_) {
    return;
  }
  filter_.emplace(config.table_filter.header.shape);
  chunks_.reset(config.table_filter.header.shape);
  state_ = State::ready;
}

// Returns false if there are more rows than it is worth now.
bool TableFilterLookup::read_pending(const SearchConfig& config) {
  rows_left_ = std::min(lookups_ * kRowsPerLookup, kMostPendingRows);
  RowidRanges rows = source_.changed_rows();
  if (rows.size() > rows_left_) {
    return false;
  }
  if (*config.covered != kHighestRowid) {
    rows.push_back({*config.covered + 1, kHighestRowid});
  }
  normalize(rows);
  std::vector<std::size_t> items;
  for (const KeyRule& column : filter_columns_) {
    items.push_back(column.item);
  }
  pending_.emplace();
  RowFeed feed(source_, items);
  bool complete = true;
  const auto outcome = sqlite::Outcome::of([&] {
    complete = std::all_of(rows.begin(), rows.end(),
                           [&](RowidRange range) { return feed.read(range, *this); });
  });
  throw_unless_row_failed(outcome);
  if (outcome.failed()) {  // a generated column fails for a row
    state_ = State::unusable;
  }
  return complete && !outcome.failed() && !feed.was_disturbed();
}

bool TableFilterLookup::add_row(std::int64_t, const sqlite::Values& values) {
  if (rows_left_ == 0) {
    return false;
  }
  --rows_left_;
  for (int i = 0; i < values.size(); ++i) {
    append_keys(filter_columns_[static_cast<std::size_t>(i)], values[i], /*as_stored=*/true,
                *pending_);
  }
  return true;
}

bool TableFilterLookup::may_have(std::span<const SearchKey> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](SearchKey key) {
    return filter_->may_contain(hash_of(key), chunks_) || pending_->contains(key);
  });
}

}  // namespace bloom
