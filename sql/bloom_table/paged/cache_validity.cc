// Whether the cache of a CachedFilter may be out of date: see the top of the header.
#include <utility>

#include "sql/bloom_table/paged/cached_filter.h"

namespace bloom {

// At this point the statement already has its write transaction. Changed chunks are written back
// whole, so this is stricter than the check before a lookup: someone may have written to the shadow
// tables directly, or undone that.
void CachedFilter::check_cache_at_begin() {
  const sqlite::Database& database = store_.database();
  const auto version = database.data_version();
  const bool is_unchanged =
      version && version == cache_state_.data_version && !cache_state_.saw_write_transaction &&
      (database.in_autocommit() || cache_state_.changes == database.total_changes());
  if (!is_unchanged || !is_cache_settled(/*writing=*/true)) {
    drop_cache();
    remember_version();
  }
}

void CachedFilter::end_transaction() {
  newest_layer_fill_.forget_estimate();
  row_log_.end_transaction();
  may_change_unreported_ = false;
  must_refresh_lookups_ = true;
  note_change();
}

// Our own commit changes the data version as well, but nothing in the cache is out of date. So the
// cache stays valid at the new version. With a shared cache that version may be of a commit that
// another thread has made since. If another object of this table took part in the transaction, it
// may have written after this cache was filled.
void CachedFilter::note_commit() {
  if (may_change_unreported_ || retired_) {
    note_rollback();
    return;
  }
  end_transaction();
  cache_state_.data_version = store_.database().data_version();
  cache_state_.is_settled =
      cache_state_.data_version.has_value() && !store_.database().shares_cache();
  cache_state_.saw_write_transaction = false;
  cache_state_.sees_uncommitted = false;
}

void CachedFilter::note_rollback() {
  end_transaction();
  cache_state_ = {};
}

// Other rows than those of the last check can be there only if one of these has changed.
void CachedFilter::refresh_for_lookup() {
  store_.tables().require_same_table();
  if (sqlite_reports_everything()) {
    seen_epoch_ = shared_.epoch;
    must_refresh_lookups_ = false;
    return;
  }
  const bool same_transaction =
      cache_state_.is_settled ||
      (cache_state_.saw_write_transaction == store_.database().has_write_transaction() &&
       cache_state_.changes == store_.database().total_changes());
  if (seen_epoch_ != shared_.epoch || !same_transaction || cache_state_.sees_uncommitted ||
      same_table_has_deferred(shared_.deferring) || store_.database().sees_uncommitted()) {
    refresh_cache();
  }
  must_refresh_lookups_ = rows_may_change();
}

bool CachedFilter::rows_may_change() const {
  const CachedFilter* const other = shared_.deferring;
  return retired_ || !cache_state_.is_settled || cache_state_.sees_uncommitted ||
         !store_.database().read_uncommitted().is_known() ||
         (other != nullptr && other != this && is_same_table(*other));
}

void CachedFilter::refresh_cache() {
  if (has_deferred_changes()) {
    write_deferred_changes();
  }
  if (same_table_has_deferred(shared_.deferring)) {
    shared_.deferring->write_deferred_changes();
  }
  const bool sees_uncommitted = store_.database().sees_uncommitted();
  const bool writing = !is_same_transaction_state() && store_.database().has_write_transaction();
  if (sees_uncommitted || !is_cache_current(writing)) {
    drop_cache();
    remember_version();
  }
  cache_state_.sees_uncommitted = sees_uncommitted;
  cache_state_.is_settled = cache_state_.is_settled && !sees_uncommitted;
  cache_state_.changes = store_.database().total_changes();
  cache_state_.saw_write_transaction = cache_state_.saw_write_transaction || writing;
  seen_epoch_ = shared_.epoch;
  must_refresh_lookups_ = rows_may_change();
}

// Whether nothing was written since the last check, which was made without a write transaction. If
// a statement has begun one since, it does not matter yet. Finding that out takes a tenth of a
// lookup. Within BEGIN, sqlite3_blob_write() changes rows without a trace.
bool CachedFilter::is_same_transaction_state() const {
  const sqlite::Database& database = store_.database();
  return seen_epoch_ == shared_.epoch && !cache_state_.saw_write_transaction &&
         cache_state_.changes == database.total_changes() && database.in_autocommit();
}

bool CachedFilter::is_cache_settled(bool writing) const {
  const sqlite::Database& database = store_.database();
  return cache_state_.is_settled && !retired_ && !database.may_have_been_replaced() &&
         !(writing && database.shares_cache());
}

// `writing`: whether the connection has a write transaction, and may have written in it. Returns
// whether the rows that this connection sees are those of the last check. Only a commit of another
// connection can have changed them. Someone may also have written to the shadow tables directly,
// which is forbidden; a rollback of that is noticed if it is one of the whole transaction and no
// other has begun since.
bool CachedFilter::is_cache_current(bool writing) {
  sqlite::Database& database = store_.database();
  const auto version = database.data_version();
  if (!version || !is_cache_settled(writing)) {
    return false;
  }
  const bool saw_write_transaction = std::exchange(cache_state_.saw_write_transaction, false);
  if (version == cache_state_.data_version) {
    cache_state_.saw_write_transaction = saw_write_transaction;
    return writing || !saw_write_transaction;
  }
  if (!cache_state_.foreign_version || database.shares_cache() ||
      database.foreign_version() != cache_state_.foreign_version) {
    return false;
  }
  cache_state_.data_version = version;
  return true;
}

// Call when the cache is empty, before it is filled.
//
// The rows are settled if no rollback can change them. That is so even while the connection has a
// write transaction, unless this table may have changed in it: if this object has written, SQLite
// reports the rollback, and is_settled does not matter.
void CachedFilter::remember_version() {
  sqlite::Database& database = store_.database();
  const bool writing = database.has_write_transaction();
  shared_.rollback_may_go_unreported =
      shared_.rollback_may_go_unreported &&
      (!database.in_autocommit() || database.running_writers() != 0);
  cache_state_ = {
      .is_settled = !retired_ && !transaction_.is_open() && !shared_.rollback_may_go_unreported &&
                    !database.may_have_been_replaced() && !(writing && database.shares_cache()),
      .data_version = database.data_version(),
      .foreign_version = database.foreign_version(),
      .changes = database.total_changes(),
      .saw_write_transaction = writing};
}

}  // namespace bloom
