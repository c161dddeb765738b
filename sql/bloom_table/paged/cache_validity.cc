// Whether the cache of a CachedFilter may be out of date: see the top of the header.
#include <limits>
#include <utility>

#include "sql/bloom_table/paged/cached_filter.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

constexpr int kMostRowsToJoin = 100;

// Sets a flag while it lives.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  ~Flag() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

// At this point the statement already has its write transaction. In autocommit mode the statement
// itself started the transaction, unless another statement is still writing.
void CachedFilter::check_cache_at_begin() {
  const bool unchanged =
      store_.database().in_autocommit()
          ? seen_epoch_ == connection_.epoch || store_.database().running_writers() <= 1
          : cache_state_.changes == store_.database().total_changes();
  const auto version = store_.database().data_version();
  if (!cache_state_.is_committed || !unchanged || !version ||
      version != cache_state_.data_version || store_.database().may_have_been_replaced()) {
    drop_cache();
  }
}

void CachedFilter::end_transaction() {
  newest_layer_fill_.forget_estimate();
  row_log_.end_transaction();
  joins_early_ = joins_early_ && checks_in_transaction_ >= kChecksBeforeJoining;
  other_may_write_ = false;
  checks_in_transaction_ = 0;
  must_refresh_lookups_ = true;
  note_change();
}

// Our own commit changes the data version as well, but nothing in the cache is out of date. So the
// cache stays valid at the new version. With a shared cache that version may be of a commit that
// another thread has made since. If another object of this table took part in the transaction, it
// may have written after this cache was filled.
void CachedFilter::note_commit() {
  if (other_may_write_ || retired_) {
    note_rollback();
    return;
  }
  end_transaction();
  cache_state_.data_version = store_.database().data_version();
  cache_state_.is_committed =
      cache_state_.data_version.has_value() && !store_.database().shares_cache();
  cache_state_.changes = store_.database().total_changes();
  cache_state_.sees_uncommitted = false;
}

void CachedFilter::note_rollback() {
  end_transaction();
  cache_state_ = {};
  cache_state_.changes = -1;  // the next lookup must check the cache
}

// Other rows than those of the last check can be there only if one of these has changed.
void CachedFilter::refresh_for_lookup() {
  store_.tables().require_same_table();
  if (sqlite_reports_everything()) {
    seen_epoch_ = connection_.epoch;
    must_refresh_lookups_ = false;
    return;
  }
  const bool same_transaction =
      cache_state_.is_committed ||
      (cache_state_.had_write_transaction == store_.database().has_write_transaction() &&
       cache_state_.changes == store_.database().total_changes());
  if (seen_epoch_ != connection_.epoch || !same_transaction || cache_state_.sees_uncommitted ||
      same_table_has_deferred(connection_.deferring) || store_.database().sees_uncommitted()) {
    refresh_cache();
  }
  must_refresh_lookups_ = rows_may_change();
}

std::uint64_t CachedFilter::cursor_opened() {
  const std::uint64_t number = refresh_for_cursor() ? refreshed_statement_ : 0;
  ++cursors_;
  cursors_of_refreshed_statement_ += number == 0 ? 0 : 1;
  return number;
}

// Returns whether the cursor belongs to the checked statement.
bool CachedFilter::refresh_for_cursor() {
  if (sqlite_reports_everything()) {
    begin_statement();
    return false;
  }
  const bool is_unchanged =
      cursors_ != 0 && cache_state_.changes == store_.database().total_changes() &&
      seen_epoch_ == connection_.epoch && !same_table_has_deferred(connection_.deferring);
  // With a shared cache, another connection can commit beside the open cursor.
  if (is_unchanged && cache_state_.is_committed && !cache_state_.can_be_replaced && !retired_ &&
      store_.database().read_uncommitted().is_known() &&
      store_.database().data_version() == cache_state_.data_version) {
    if (has_change_log()) {
      refresh_change_log();
    }
    return false;
  }
  if (!is_unchanged || cursors_of_refreshed_statement_ == 0) {
    if (std::exchange(cursors_of_refreshed_statement_, 0) != 0) {
      ++refreshed_statement_;
    }
    begin_statement();
    return cursors_ != 0 && !cache_state_.is_committed &&
           store_.database().statement_runs_to_its_end();
  }
  if (has_change_log()) {
    refresh_change_log();
  }
  return true;
}

bool CachedFilter::rows_may_change() const {
  const CachedFilter* const other = connection_.deferring;
  return retired_ || !cache_state_.is_committed || cache_state_.sees_uncommitted ||
         !store_.database().read_uncommitted().is_known() ||
         (other != nullptr && other != this && is_of(*other));
}

void CachedFilter::refresh_cache() {
  if (has_deferred_changes()) {
    write_deferred_changes();
  }
  if (same_table_has_deferred(connection_.deferring)) {
    connection_.deferring->write_deferred_changes();
  }
  // In autocommit mode only a running statement can be writing. A rollback then takes back nothing
  // that is cached, if no row has changed since the last check. Asking SQLite takes 40 ns.
  const int changes = store_.database().total_changes();
  const bool unchanged = cache_state_.is_committed && changes == cache_state_.changes &&
                         seen_epoch_ == connection_.epoch;
  const bool may_be_writing = !unchanged || !store_.database().in_autocommit();
  const bool writing = may_be_writing && store_.database().has_write_transaction();
  const auto version = store_.database().data_version();
  const bool sees_uncommitted = store_.database().sees_uncommitted();
  const bool can_be_replaced = store_.database().may_have_been_replaced();
  if (writing && joins_now()) {
    join();
    if (sqlite_reports_everything()) {
      seen_epoch_ = connection_.epoch;
      must_refresh_lookups_ = false;
      return;
    }
  }
  if (!cache_state_.is_committed || writing || !version || version != cache_state_.data_version ||
      sees_uncommitted || can_be_replaced) {
    drop_cache();
  }
  cache_state_ = {.is_committed = !writing && version && !sees_uncommitted,
                  .data_version = version,
                  .changes = changes,
                  .had_write_transaction = writing,
                  .sees_uncommitted = sees_uncommitted,
                  .can_be_replaced = can_be_replaced};
  seen_epoch_ = connection_.epoch;
  must_refresh_lookups_ = rows_may_change();
  if (!writing) {
    checks_in_transaction_ = 0;
    checks_before_joining_ = kChecksBeforeJoining;
  }
}

// Returns whether the table should join the transaction: at the first check if that was worth it in
// the last transaction, as the cache then stays valid from one transaction to the next.
bool CachedFilter::joins_now() {
  if (transaction_.is_open() || retired_ || is_joining_) {
    return false;
  }
  const bool enough = checks_in_transaction_++ >= checks_before_joining_;
  if (!enough && (!joins_early_ || checks_in_transaction_ > 1)) {
    return false;
  }
  checks_before_joining_ *= enough ? 2 : 1;
  return store_.database().changes() <= kMostRowsToJoin &&
         store_.database().statement_runs_to_its_end();
}

// SQLite reports a rollback only to tables that take part in the transaction, so all others must
// read their rows again at each check. A table takes part once a statement writes to it. That
// statement is an INSERT whose rows update() ignores. SQLite counts them, so it inserts as many as
// changes() says, and changes() stays as it is.
//
// If a statement that writes is interrupted, SQLite rolls back the transaction. So this happens
// only within another statement that writes, which SQLite would roll back as well. A statement that
// is paused at a row it returns does not count: the lookup belongs to another one then.
//
// Only our tables have the columns of the INSERT. So if the name has come to mean a table of the
// user, it fails, and another bloom table refuses a NULL key.
void CachedFilter::join() {
  store_.tables().require_same_table();
  const std::string rows = std::to_string(store_.database().changes());
  const std::string insert = "INSERT INTO " + sqlite::quoted_name(store_.tables().schema()) + "." +
                             sqlite::quoted_name(table()) +
                             "(key, fpr, overfull) WITH RECURSIVE n(i) AS (SELECT 1 WHERE " + rows +
                             " > 0 UNION ALL SELECT i + 1 FROM n WHERE i < " + rows +
                             ") SELECT NULL, NULL, NULL FROM n";
  const Flag joining(is_joining_);
  const sqlite::KeepLastRowid keep(store_.tables().db());
  // For example, an authorizer may deny it. Each check reads the rows again then.
  joins_early_ = sqlite::try_execute(store_.tables().db(), insert);
  checks_before_joining_ = joins_early_ ? checks_before_joining_ : std::numeric_limits<int>::max();
}

}  // namespace bloom
