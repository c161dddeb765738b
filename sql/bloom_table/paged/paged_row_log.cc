// The row log of a PagedFilter: see bloom_row_log.h.
//
// A change of one key writes a page of the filter, and reads it first if the filter is larger than
// SQLite's cache. A row of the log is 20 bytes at the end of a b-tree. So single-row statements of
// a transaction append to the log, and merge_row_log() writes each chunk once for many keys.
//
// Invariant: the filter is the chunks in the store, with the changes of the log applied in order.
// Adding a key twice to a counting filter would be wrong, so nothing else may write a chunk that
// has changes in the log: every other Change first merges the log.

#include "sql/bloom_table/paged/paged_change.h"
#include "sql/bloom_table/paged/paged_filter.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

// A transaction of fewer keys writes their chunks at once, which costs less than a log.
constexpr int kFewKeys = 8;
// A statement that has written so many keys may have more, and is worth the decision how to write
// them.
constexpr int kFewKeysOfStatement = 16;

// As a cache of chunks, for a change that is logged: the chunk stays as it is in the store.
struct LoggedChunks {
  ChunkCache& cache;
  std::uint8_t* at(std::uint64_t i) { return cache.at(i); }
  void mark_changed(std::uint64_t) {}
};

}  // namespace

// In an autocommit transaction the statement ends with a commit, so a log saves nothing.
bool PagedFilter::can_use_row_log() {
  if (keys_in_transaction_ < kFewKeys || !sqlite_reports_everything() ||
      store_.database().in_autocommit() || is_deferring()) {
    return false;
  }
  store_.tables().require_same_table();
  layers();
  if (!config_.has_row_log || !BloomRowLog::is_possible(config_.layers)) {
    return false;
  }
  if (transaction_.changes_written() >= kFewKeysOfStatement) {
    decide_write_mode();
  }
  return !is_deferring();
}

std::optional<bool> PagedFilter::try_row_log(Hash hash, bool is_removal, bool counts_in_changes) {
  if (!can_use_row_log()) {
    return std::nullopt;
  }
  const bool is_add = !is_removal;
  const Placement place = filter_->placement_of(hash);
  if (place.chunk == Placement::kSeveralChunks) {
    return std::nullopt;
  }
  LoggedChunks chunks{cache_};
  const bool changed = (is_add && growth_) ? filter_->add_if_absent(hash, chunks)
                       : is_add            ? filter_->add(hash, place, chunks)
                                           : filter_->remove(hash, chunks);
  if (changed) {
    append_to_row_log(hash, place.chunk, is_removal);
    if (is_add && growth_ && newest_layer_fill_.note_added(hash, config_.layers.newest(), cache_)) {
      Change growing(*this, Change::Touches::keys);
      add_layer();
      growing.done(false);
    } else if (row_log_.is_long()) {
      merge_row_log();
    }
  }
  note_written(changed && counts_in_changes);
  return changed;
}

// The cells of the cached chunk are changed already.
void PagedFilter::append_to_row_log(Hash hash, std::uint64_t chunk, bool is_removal) {
  const sqlite::Outcome outcome = sqlite::Outcome::of([&] {
    if (!config_.row_log_has_rows) {
      config_.row_log_has_rows = true;
      store_.save_version(config_);
    }
    if (row_log_.empty()) {
      note_table_of_log();
    }
    row_log_.append(config_.layers, chunk, hash, is_removal);
  });
  if (outcome.failed()) {
    drop_cache();
  }
  outcome.throw_failure();
}

void PagedFilter::merge_row_log() {
  if (row_log_.empty()) {
    return;
  }
  // Half a merge would apply changes twice.
  const ChangeProgress progress(transaction_, store_.writes());
  const sqlite::Outcome outcome = sqlite::Outcome::of([&] { write_row_log(); });
  if (outcome.failed()) {
    drop_cache();
    if (progress.has_written() && !progress.is_undone() && !progress.is_undone_on_failure()) {
      transaction_.roll_back();
    }
  }
  outcome.throw_failure();
  note_change();
}

void PagedFilter::write_row_log() {
  ChunkWriter writer(store_);
  for (const std::uint64_t i : row_log_.chunks()) {
    const std::uint8_t* const cells = cache_.at(i);
    if (!cache_.insert_row(i)) {
      writer.write(i, {cells, config_.layers.chunk_bytes(i)});
    }
  }
  row_log_.clear();
}

// For a program that writes each row within a savepoint, this is the best time to merge. A merge
// within a savepoint needs copies of the pages for a rollback to it. Many copies go to a file, and
// SQLite then writes the copies of all later savepoints of the transaction to files, too. While
// SQLite opens a savepoint, a statement would get one of the same number.
//
// RELEASE itself writes nothing, so it must not fail where writes are refused, for example by an
// authorizer: the log is then merged later. If the merge fails, SQLite may have rolled the whole
// transaction back.
void PagedFilter::merge_row_log_after_savepoint() {
  sqlite3* const db = store_.tables().db();
  if (!row_log_.is_nearly_long() || !row_log_.is_known() || sqlite::running_writers(db) != 0) {
    return;
  }
  bool is_possible = false;
  const sqlite::Outcome permission = sqlite::Outcome::of([&] {
    is_possible = can_use_row_log() && !sqlite::is_query_only(db) && !store_.is_merge_refused();
  });
  if (permission.failed() || !is_possible) {
    return;
  }
  const int changes = store_.database().changes();
  merge_row_log();
  store_.row_log().restore_changes(changes);
}

// An object that does not know the table's name leaves the log to the object that does, or to the
// next transaction. If a merge fails, the commit fails, and SQLite rolls the transaction back. Some
// commits keep the log. PRAGMA query_only and an authorizer refuse writes, but not the commit; an
// interrupted write would undo it. And an object whose table was dropped, or whose rename was
// undone, cannot read the log: another object merges it, or a later transaction.
void PagedFilter::sync() {
  write_deferred_changes();
  if (transaction_.may_have_old_name() ||
      (!row_log_.may_have_new_rows() && !(is_loaded_ && config_.row_log_has_rows))) {
    return;
  }
  const sqlite::Outcome loading = sqlite::Outcome::of([&] {
    if (is_loaded_ && !row_log_.is_current()) {
      drop_cache();
    }
    layers();
  });
  if (loading.failed()) {
    drop_cache();
    if (log_is_out_of_reach(loading)) {
      return;
    }
    loading.throw_failure();
  }
  if (!config_.row_log_has_rows || store_.is_merge_refused()) {
    return;
  }
  const int changes = store_.database().changes();
  const sqlite::Outcome outcome = sqlite::Outcome::of([&] {
    write_row_log();
    config_.row_log_has_rows = false;
    store_.save_version(config_);
    store_.row_log().restore_changes(changes);
  });
  if (outcome.failed()) {
    drop_cache();
  }
  if ((outcome.code() & 0xff) != SQLITE_READONLY) {
    outcome.throw_failure();
  }
}

}  // namespace bloom
