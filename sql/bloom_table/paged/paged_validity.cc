// Whether the cache of a PagedFilter may be out of date: see the top of the header.
#include <utility>

#include "sql/bloom_table/paged/paged_filter.h"

namespace bloom {

// Other rows than those of the last check can be there only if one of these has changed.
void PagedFilter::check_lookup() {
  store_.require_same_table();
  if (sqlite_reports_everything()) {
    seen_epoch_ = connection_.epoch;
    must_check_lookups_ = false;
    return;
  }
  const bool same_transaction =
      last_check_.is_committed ||
      (last_check_.had_write_transaction == store_.has_write_transaction() &&
       last_check_.changes == store_.total_changes());
  if (seen_epoch_ != connection_.epoch || !same_transaction || last_check_.sees_uncommitted ||
      same_table_has_deferred(connection_.deferring) || store_.sees_uncommitted()) {
    check_cache();
  }
  must_check_lookups_ = rows_may_change();
}

std::uint64_t PagedFilter::cursor_opened() {
  const std::uint64_t number = check_for_cursor() ? checked_statement_ : 0;
  ++cursors_;
  cursors_of_checked_statement_ += number == 0 ? 0 : 1;
  return number;
}

// Returns whether the cursor belongs to the checked statement.
bool PagedFilter::check_for_cursor() {
  if (sqlite_reports_everything()) {
    begin_statement();
    return false;
  }
  const bool is_unchanged = cursors_ != 0 && last_check_.changes == store_.total_changes() &&
                            seen_epoch_ == connection_.epoch &&
                            !same_table_has_deferred(connection_.deferring);
  // With a shared cache, another connection can commit beside the open cursor.
  if (is_unchanged && last_check_.is_committed && !last_check_.can_be_replaced && !retired_ &&
      store_.knows_read_uncommitted() && store_.data_version() == last_check_.data_version) {
    if (has_log()) {
      check_log();
    }
    return false;
  }
  if (!is_unchanged || cursors_of_checked_statement_ == 0) {
    if (std::exchange(cursors_of_checked_statement_, 0) != 0) {
      ++checked_statement_;
    }
    begin_statement();
    return cursors_ != 0 && !last_check_.is_committed && store_.statement_runs_to_its_end();
  }
  if (has_log()) {
    check_log();
  }
  return true;
}

bool PagedFilter::rows_may_change() const {
  const PagedFilter* const other = connection_.deferring;
  return retired_ || !last_check_.is_committed || last_check_.sees_uncommitted ||
         !store_.knows_read_uncommitted() ||
         (other != nullptr && other != this && other->is_of(schema(), table()));
}

void PagedFilter::check_cache() {
  if (has_deferred_changes()) {
    write_deferred_changes();
  }
  if (same_table_has_deferred(connection_.deferring)) {
    connection_.deferring->write_deferred_changes();
  }
  // In autocommit mode only a running statement can be writing. A rollback then takes back nothing
  // that is cached, if no row has changed since the last check. Asking SQLite takes 40 ns.
  const int changes = store_.total_changes();
  const bool unchanged = last_check_.is_committed && changes == last_check_.changes &&
                         seen_epoch_ == connection_.epoch;
  const bool may_be_writing = !unchanged || !store_.in_autocommit();
  const bool writing = may_be_writing && store_.has_write_transaction();
  const auto version = store_.data_version();
  const bool sees_uncommitted = store_.sees_uncommitted();
  const bool can_be_replaced = store_.may_have_been_replaced();
  if (!last_check_.is_committed || writing || !version || version != last_check_.data_version ||
      sees_uncommitted || can_be_replaced) {
    drop_cache();
  }
  last_check_ = {.is_committed = !writing && version && !sees_uncommitted,
                 .data_version = version,
                 .changes = changes,
                 .had_write_transaction = writing,
                 .sees_uncommitted = sees_uncommitted,
                 .can_be_replaced = can_be_replaced};
  seen_epoch_ = connection_.epoch;
  must_check_lookups_ = rows_may_change();
}

}  // namespace bloom
