#include "sql/bloom_table/paged/paged_filter.h"

#include <cassert>

#include "sql/bloom_table/paged/paged_change.h"
#include "sql/sqlite/guard.h"

namespace bloom {

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
  watch_name();  // a rollback may give the table back
  store_.tables().drop();
  drop_cache();
  row_log_.end_transaction();
  retire();
}

// A rollback gives the table its old name back. SQLite makes new objects then, and after a rename
// of a table that is not part of the transaction.
void PagedFilter::rename(const std::string& table) {
  watch_name();
  store_.tables().rename(table);  // may throw: the log then keeps its name as well
  change_log_.rename(table);
  transaction_.note_renamed();
}

void PagedFilter::begin() {
  if (!transaction_.is_open()) {
    check_cache_at_begin();
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
  merge_row_log_after_savepoint();
}

void PagedFilter::rolled_back_to(int number) {
  transaction_.rolled_back_to(number);
  // A table that was dropped and created again may have the same row in sqlite_schema.
  drop_cache(transaction_.was_created() ? RowLogAction::forget : RowLogAction::newest_may_be_gone);
  end_statement();
  retire_if_renamed();
  note_change();
}

// SQLite tells each object that shares the filter. Only at the first call is it known what other
// filters of this table did.
void PagedFilter::committed() {
  assert(!has_deferred_changes());
  if (!transaction_.is_open()) {
    return;
  }
  transaction_.committed();
  end_statement();
  keys_in_transaction_ = 0;
  note_commit();
}

// If sqlite3_close() was refused, the transaction is still open. Deferred changes are lost by then,
// so the transaction must be rolled back.
void PagedFilter::rolled_back() {
  const bool is_still_open = store_.database().has_write_transaction();
  const bool lost = has_deferred_changes() && is_still_open;
  shared_.rollback_may_go_unreported = shared_.rollback_may_go_unreported || is_still_open;
  drop_cache();
  transaction_.rolled_back();
  retire_if_renamed();
  end_statement();
  keys_in_transaction_ = 0;
  note_rollback();
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
  if (shared_.deferring == this) {
    shared_.deferring = nullptr;
  }
}

void PagedFilter::require_transaction() {
  store_.tables().require_same_table();
  if (!transaction_.is_open()) {
    refuse_rolled_back();
  }
  if (!transaction_.all_savepoints_reported()) {
    store_.make_savepoints_known();
  }
}

void PagedFilter::run_atomically(const std::function<void()>& run) {
  require_transaction();
  const TransactionState::CommandScope scope(transaction_);
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
    shared_.deferring = this;
    note_change();
  }
}

void PagedFilter::note_written(bool counts_in_changes) {
  ++keys_in_transaction_;
  transaction_.count_written_change(counts_in_changes);
  note_change();
}

bool PagedFilter::add(Hash hash, bool counts_in_changes) {
  if (const auto changed = try_row_log(hash, /*is_removal=*/false, counts_in_changes)) {
    return *changed;
  }
  Change change(*this, Change::Touches::keys);
  const bool changed = add_or_grow(hash);
  change.done(changed && counts_in_changes);
  return changed;
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
  if (const auto removed = try_row_log(hash, /*is_removal=*/true)) {
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
