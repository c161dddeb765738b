// One change of a PagedFilter. Only the sources of PagedFilter include this file.
#pragma once

#include <optional>

#include "sql/bloom_table/paged/paged_filter.h"
#include "sql/sqlite/guard.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

// The scope of one change of the filter. If it ends without done(), the change is undone, except
// where a partial change is harmless: see Touches.
class PagedFilter::Change {
 public:
  enum class Touches {
    // Only adds keys. A partial change may stay: surplus set cells lose no key.
    keys,
    // Only the config, and no chunk. A partial change may stay.
    config,
    // A partial change would lose keys, or leave a command half done.
    anything,
  };

  Change(PagedFilter& filter, Touches touches) : filter_(filter), touches_(touches) {
    filter.require_transaction();
    // The first key of a statement is often its only key. Writing it costs less than deciding how
    // to write.
    if (touches == Touches::anything || filter.transaction_.has_written_immediately()) {
      filter.decide_write_mode();
    }
    if (!filter_.sqlite_reports_everything()) {
      filter_.refresh_cache();
    }
    filter_.current_filter();
    if (touches != Touches::config) {
      filter_.merge_row_log();
    }
    progress_.emplace(filter_.transaction_, filter_.store_.writes());
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  // A deferred change needs no undo here if SQLite undoes its statement.
  ~Change() {
    if (done_ || progress_->is_undone() || progress_->is_undone_on_failure()) {
      return;
    }
    filter_.drop_cache();
    if (filter_.is_deferring() || (touches_ == Touches::anything && progress_->has_written())) {
      filter_.transaction_.roll_back();
    }
  }

  // `counts_in_changes`: SQLite will count this row of the statement in changes().
  void done(bool counts_in_changes = true) {
    if (!filter_.is_deferring()) {
      filter_.write_deferred_changes();
      filter_.note_written(counts_in_changes);
    }
    done_ = true;
  }

 private:
  PagedFilter& filter_;
  Touches touches_;
  std::optional<ChangeProgress> progress_;
  bool done_ = false;
};

// Defers changes while it lives. Requires: it lives within one Change.
class PagedFilter::Deferral {
 public:
  explicit Deferral(PagedFilter& filter)
      : filter_(filter), before_(filter.transaction_.write_mode()) {
    filter.transaction_.set_write_mode(WriteMode::deferred);
    filter.shared_.deferring = &filter;
    filter.note_change();
  }
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;
  ~Deferral() {
    filter_.transaction_.set_write_mode(before_);
    if (before_ != WriteMode::deferred) {
      filter_.shared_.deferring = nullptr;
    }
  }

 private:
  PagedFilter& filter_;
  WriteMode before_;
};

}  // namespace bloom
