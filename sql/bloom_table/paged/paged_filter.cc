#include "sql/bloom_table/paged/paged_filter.h"

#include <cassert>
#include <span>
#include <utility>

#include "sql/bloom_table/paged/paged_change.h"
#include "sql/sqlite/guard.h"
#include "sql/vtab/damage.h"

namespace bloom {

using sqlite::SqliteError;

PagedFilter::PagedFilter(sqlite3* db, std::string schema, std::string table,
                         std::uint64_t cache_bytes, const std::optional<Growth>& growth,
                         ConnectionState& connection)
    : store_(db, std::move(schema), std::move(table)),
      cache_(store_, cache_bytes),
      log_(db, store_.tables().schema(), store_.tables().table()),
      logged_(store_.row_log()),
      growth_(growth),
      transaction_(db),
      connection_(connection) {
  cache_.set_overlay(
      [this](std::uint64_t i, std::uint8_t* cells) { logged_.apply(*filter_, i, cells); });
}

PagedFilter::~PagedFilter() {
  if (connection_.deferring == this) {
    connection_.deferring = nullptr;
  }
}

bool PagedFilter::must_be_shared(const std::string& schema, const std::string& table,
                                 bool grows) const {
  return !retired_ && transaction_.is_open() && transaction_.all_savepoints_reported() &&
         growth_.has_value() == grows && is_of(schema, table);
}

bool PagedFilter::is_of(const std::string& schema, const std::string& table) const {
  return sqlite3_stricmp(store_.tables().schema().c_str(), schema.c_str()) == 0 &&
         sqlite3_stricmp(store_.tables().table().c_str(), table.c_str()) == 0;
}

void PagedFilter::create(const BloomConfig& config, const std::function<void(const Add&)>& fill) {
  assert(config.layers.size() == 1 || config.layers.are_generations());
  store_.create(config);
  transaction_.begin();
  if (fill) {
    Change change(*this, Change::Touches::keys);
    fill_with(fill);
    change.done(false);
  }
  transaction_.created();
  note_connected();
}

void PagedFilter::drop() {
  store_.tables().watch_name();  // a rollback may give the table back
  store_.tables().drop();
  drop_cache();
  logged_.end_transaction();
  retire();
}

// A rollback gives the table its old name back. SQLite makes new objects then, and after a rename
// of a table that is not part of the transaction.
void PagedFilter::rename(const std::string& table) {
  store_.tables().watch_name();
  log_.rename(table);
  store_.tables().rename(table);
  transaction_.note_renamed();
  must_refresh_lookups_ = true;
}

// At this point the statement already has its write transaction. In autocommit mode the statement
// itself started the transaction, unless another statement is still writing.
void PagedFilter::begin() {
  if (transaction_.is_open()) {
    transaction_.begin();
    return;
  }
  const bool unchanged =
      store_.database().in_autocommit()
          ? seen_epoch_ == connection_.epoch || store_.database().running_writers() <= 1
          : cache_state_.changes == store_.database().total_changes();
  const auto version = store_.database().data_version();
  if (!cache_state_.is_committed || !unchanged || !version ||
      version != cache_state_.data_version || store_.database().may_have_been_replaced()) {
    drop_cache();
  }
  transaction_.begin();
}

void PagedFilter::savepoint(int number) {
  write_deferred_changes();
  end_statement();
  if (!transaction_.all_savepoints_reported()) {
    drop_cache();
    note_change();
  }
  transaction_.savepoint(number);
}

void PagedFilter::released(int number) {
  write_deferred_changes();
  end_statement();
  transaction_.released(number);
}

void PagedFilter::rolled_back_to(int number) {
  if (!transaction_.rolled_back_to(number)) {
    return;
  }
  drop_cache(LogCopy::forget_newest);
  end_statement();
  retire_if_renamed();
  note_change();
}

// Our own commit changes the data version as well, but nothing in the cache is out of date. So the
// cache stays valid at the new version. With a shared cache that version may be of a commit that
// another thread has made since.
void PagedFilter::committed() {
  assert(!has_deferred_changes());
  transaction_.committed();
  end_transaction();
  cache_state_.data_version = store_.database().data_version();
  cache_state_.is_committed =
      cache_state_.data_version.has_value() && !store_.database().shares_cache();
  cache_state_.changes = store_.database().total_changes();
  cache_state_.sees_uncommitted = false;
  must_refresh_lookups_ = true;
}

// If sqlite3_close() was refused, the transaction is still open. Deferred changes are lost by then,
// so the transaction must be rolled back.
void PagedFilter::rolled_back() {
  const bool lost = has_deferred_changes() && store_.database().has_write_transaction();
  drop_cache();
  transaction_.rolled_back();
  retire_if_renamed();
  end_transaction();
  cache_state_ = {};
  cache_state_.changes = -1;  // the next lookup must check the cache
  must_refresh_lookups_ = true;
  if (lost) {
    store_.database().roll_back();
  }
}

void PagedFilter::retire_if_renamed() {
  if (transaction_.may_have_old_name()) {
    retire();
  }
}

// The caller also passes the call that ends the statement on to transaction_.
void PagedFilter::end_statement() {
  assert(!has_deferred_changes());
  if (connection_.deferring == this) {
    connection_.deferring = nullptr;
  }
}

void PagedFilter::end_transaction() {
  end_statement();
  newest_layer_fill_.forget_estimate();
  logged_.end_transaction();
  keys_in_transaction_ = 0;
  other_may_write_ = false;
  joins_early_ = joins_early_ && checks_in_transaction_ >= kChecksBeforeJoining;
  checks_in_transaction_ = 0;
  note_change();
}

void PagedFilter::join_change() {
  store_.tables().require_same_table();
  if (!transaction_.is_open()) {
    // An SQL function of the host can roll back while a statement runs.
    throw SqliteError(SQLITE_ABORT_ROLLBACK, "the transaction was rolled back meanwhile");
  }
  if (!transaction_.all_savepoints_reported()) {
    store_.announce_savepoints();
  }
}

void PagedFilter::run_atomically(const std::function<void()>& run) {
  join_change();
  const TransactionState::Enclosed enclosed(transaction_);
  store_.tables().atomically([&] {
    write_deferred_changes();
    if (!sqlite_reports_everything()) {
      refresh_cache();
    }
    current_filter();
    merge_row_log();
    run();
  });
}

void PagedFilter::decide_write_mode() {
  if (transaction_.decide_write_mode(table())) {
    connection_.deferring = this;
    note_change();
  }
}

void PagedFilter::note_written(bool counts) {
  ++keys_in_transaction_;
  transaction_.note_written(counts);
  note_change();
}

void PagedFilter::write_deferred_changes() {
  if (batch_size_ != 0) {
    apply_batch();
  }
  if (cache_.has_changes()) {
    cache_.flush();
    note_change();
  }
}

void PagedFilter::drop_cache(LogCopy copy) {
  cache_.forget();
  copy == LogCopy::forget ? logged_.forget() : logged_.forget_newest();
  log_.expire();
  batch_size_ = 0;
  newest_layer_fill_.forget_estimate();
  is_loaded_ = false;
}

void PagedFilter::load() {
  if (transaction_.may_have_old_name()) {
    refuse_renamed();
  }
  config_ = store_.load_config();
  log_.set_parts(config_.parts);
  if (growth_ && config_.layers.are_generations()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the config has generations, but the table grows");
  }
  filter_.emplace(config_.layers);
  cache_.reset(config_.layers);
  logged_.load(config_.layers, *filter_, config_.row_log_has_rows);
  is_loaded_ = true;
}

bool PagedFilter::add(Hash hash) {
  if (const auto changed = try_log(hash)) {
    return *changed;
  }
  Change change(*this, Change::Touches::keys);
  const bool changed = add_or_grow(hash);
  change.done(changed);
  return changed;
}

void PagedFilter::apply_batch() {
  const auto hashes = std::span<const Hash>(batch_).first(batch_size_);
  batch_size_ = 0;
  filter_->add(hashes, cache_.all_chunks());
}

void PagedFilter::fill_with(const std::function<void(const Add&)>& fill) {
  const Deferral deferral(*this);
  fill([this](Hash hash) { add_while_deferring(hash); });
  current_filter();
}

void PagedFilter::add_while_deferring(Hash hash) {
  if (!try_defer(hash)) {
    current_filter();
    add_or_grow(hash);
  }
}

bool PagedFilter::add_or_grow(Hash hash) {
  if (!growth_) {
    return filter_->add(hash, cache_);
  }
  const bool added = filter_->add_if_absent(hash, cache_);
  if (added && newest_layer_fill_.note_added(hash, config_.layers.newest(), cache_)) {
    add_layer();
  }
  return added;
}

void PagedFilter::add_layer() {
  if (const auto next = next_layer(*growth_, config_.layers.headers())) {
    config_.layers.append(*next);
    store_.save_config(config_);
    filter_.emplace(config_.layers);
    cache_.extend(config_.layers);
  }
}

bool PagedFilter::remove(Hash hash) {
  if (const auto removed = try_log(hash, /*is_removal=*/true)) {
    return *removed;
  }
  Change change(*this, Change::Touches::anything);
  const bool removed = filter_->remove(hash, cache_);
  change.done();
  return removed;
}

void PagedFilter::replace(Hash old_key, Hash new_key) {
  Change change(*this, Change::Touches::anything);
  may_contain(new_key);  // detects most damage before anything is changed
  filter_->remove(old_key, cache_);
  filter_->add(new_key, cache_);
  change.done();
}

void PagedFilter::mark_missed(const std::string& blocking_trigger) {
  Change change(*this, Change::Touches::config);
  config_.blocking_trigger = blocking_trigger;
  store_.save_config(config_);
  change.done();
}

}  // namespace bloom
