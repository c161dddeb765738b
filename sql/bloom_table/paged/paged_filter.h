// The filter of a bloom table, as one connection sees it: the shadow tables, and a cache of chunks
// in front of them.
//
// Invariant: between two statements no change is deferred. Every added key is then in SQLite's
// pages: in its chunk, or in the row log (logged_keys.h). SQLite's own rollback, commit, close,
// serialize and backup therefore treat it like any other row. A change may wait in the cache only
// if its statement is certain to run to its end (see TransactionState::WriteMode). SQLite then
// reports that end, and the change is written.
//
// The table below lists the calls of SQLite and what must hold after each. transaction_state.h says
// when a savepoint n is "known".
//
// Outside a transaction:
//   xBegin            joins the transaction. The cache stays valid if no row can have changed.
//                     Lookups within a statement that writes to other tables also make it join.
//   xRollback         the cache is empty.
//   no call, but rows were changed or restored: the next statement empties the cache. See
//   CacheState.
// In a transaction:
//   xBegin            no effect: a second object of this table joins.
//   xSavepoint(n)     nothing is deferred: savepoint n includes every earlier change.
//   xRelease(n)       nothing is deferred.
//   xRollbackTo(n)    if n is known: the cache is empty and nothing is deferred. SQLite has taken
//                     back the newest rows of the row log, or has brought back merged rows.
//                     Otherwise no effect, because n was never opened.
//   xSync             nothing is deferred, and the row log is empty. Under PRAGMA query_only the
//                     log stays, and is committed.
//   xCommit           leaves the transaction. The cache matches the file.
//   xRollback         leaves the transaction. The cache is empty. If sqlite3_close() was refused,
//                     the transaction is still open. If a change was deferred in that case, the
//                     whole transaction is rolled back. Rows of the row log stay: a commit that
//                     follows without xSync commits them.
//   no call, but rows were changed: only direct writes to the shadow tables do this.
// Whenever the cache is filled, the config says whether the row log may have rows. They are then
// read, and applied to each chunk that is read.
//
// The change log (sql/source/change_log.h) is an ordinary table, so SQLite calls nothing when a
// program appends to it. A lookup therefore reads new rows of the log after
//   - sqlite3_total_changes() has changed: this connection may have appended rows,
//   - the data version of the file has changed: another connection may have, and
//   - a call above that empties the cache.
//
// Every function may throw SqliteError if a statement on the shadow tables fails. The code is
// SQLITE_CORRUPT_VTAB if the shadow tables are damaged. If a change fails halfway, SQLite may not
// undo it. The whole transaction is then rolled back, as after SQLITE_IOERR.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/filter/chunked.h"
#include "core/filter/filter.h"
#include "core/filter/layers.h"
#include "core/operations/estimate_result.h"
#include "core/sizing/growth.h"
#include "sql/bloom_table/connection_state.h"
#include "sql/bloom_table/paged/bloom_store.h"
#include "sql/bloom_table/paged/chunk_cache.h"
#include "sql/bloom_table/paged/layer_fill.h"
#include "sql/bloom_table/paged/logged_keys.h"
#include "sql/source/change_log.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

class PagedFilter {
 public:
  // `growth`: if given, layers are added as the number of keys rises (core/sizing/growth.h).
  PagedFilter(sqlite3* db, std::string schema, std::string table, std::uint64_t cache_bytes,
              const std::optional<Growth>& growth, ConnectionState& connection);
  PagedFilter(const PagedFilter&) = delete;
  PagedFilter& operator=(const PagedFilter&) = delete;
  ~PagedFilter();

  // Call when a new object of the table was connected.
  void note_connected() {
    store_.tables().note_connected();
    must_refresh_lookups_ = true;
  }

  const std::string& schema() const { return store_.tables().schema(); }
  const std::string& table() const { return store_.tables().table(); }
  // Marks the filter as not to be shared with new table objects. Call when the table was dropped,
  // or when another table took its name. The filter stays usable, because a rollback may undo
  // either.
  void retire() {
    retired_ = true;
    logged_.others_may_append();
    must_refresh_lookups_ = true;
    store_.tables().watch_name();
  }
  // Call when `other`, an object of the same table, was retired. A statement that is running may
  // still write through it.
  void note_retired(const PagedFilter& other) {
    other_may_write_ = other_may_write_ || other.transaction_.is_open();
  }
  bool is_of(const std::string& schema, const std::string& table) const;
  // Returns whether a new object of this table must share the filter: it is in a transaction.
  bool must_be_shared(const std::string& schema, const std::string& table, bool grows) const;

  // Adds one key, given its hash.
  using Add = std::function<void(Hash hash)>;

  // Creates the shadow tables and joins the transaction. Calls fill(add) once; `fill` adds the
  // initial keys by calling `add`. Requires: `config` has one layer, or generations.
  void create(const BloomConfig& config, const std::function<void(const Add&)>& fill = {});
  void drop();
  void rename(const std::string& table);

  // The calls of SQLite: see the table at the top.
  void begin();
  void savepoint(int number);
  void released(int number);
  void rolled_back_to(int number);
  void sync();
  void committed();
  void rolled_back();

  // Call before each lookup, unless a change is in progress. Empties the cache if it may be out of
  // date.
  void prepare_lookup() {
    if (seen_epoch_ != connection_.epoch || must_refresh_lookups_) {
      refresh_for_lookup();
    }
    if (has_log()) {
      refresh_log();
    }
  }
  // Call at the beginning of each statement. Checks the cache even if this connection has changed
  // nothing, because other connections may have.
  void begin_statement() {
    if (sqlite_reports_everything()) {
      ++checks_in_transaction_;
    } else {
      refresh_cache();
    }
    if (has_log()) {
      refresh_log();
    }
  }

  // Call when a cursor is opened and closed. SQLite opens a cursor for each row of an outer query
  // if the lookup is in a correlated subquery, also within one statement. Two kinds of cursors need
  // no check. While another cursor is open, its statement holds the snapshot of committed rows. And
  // a statement that writes and runs to its end within one sqlite3_step() leaves the application no
  // chance to roll back what the cache has read. cursor_opened() returns a number for
  // cursor_closed().
  std::uint64_t cursor_opened();
  void cursor_closed(std::uint64_t number) {
    --cursors_;
    if (number == refreshed_statement_ && --cursors_of_refreshed_statement_ == 0) {
      ++refreshed_statement_;
    }
  }

  void statement_was_prepared() { store_.database().read_uncommitted().statement_was_prepared(); }

  // Returns the layers, and loads them if necessary. Applies no deferred keys: called per row.
  const Layers& layers() {
    if (!is_loaded_) {
      load();
    }
    return config_.layers;
  }
  const Shape& shape() { return layers().shape(); }
  const BloomConfig& config() { return layers(), config_; }
  // Returns BloomConfig::guard_index, even if the rest of the config is damaged. Returns an empty
  // string if it cannot be read.
  std::string stored_guard() { return store_.load_guard(); }
  bool grows() const { return growth_.has_value(); }
  bool has_generations() { return layers().are_generations(); }

  // As Filter::may_contain(). Also looks the key up in the change log, if there is one.
  bool may_contain(Hash hash) {
    return current_filter().may_contain(hash, cache_) ||
           (has_log() && log_.may_contain(hash, layers().newest().header));
  }
  void count_lookup(bool found) {
    ++counts_.lookups;
    counts_.absent += found ? 0 : 1;
  }
  const LookupCounts& counts() const { return counts_; }
  // Returns how many times a lookup or a change has read a chunk from the store.
  std::uint64_t chunks_read() const { return cache_.chunks_read(); }
  // As Filter::add(). A growing filter does not add a key that it may already contain, and then
  // returns false.
  bool add(Hash hash);
  // Adds a key without returning whether it was new. Several keys can then be added in one batch.
  void add_batched(Hash hash) {
    if (!try_defer(hash)) {
      add(hash);
    }
  }
  bool remove(Hash hash);  // as Filter::remove()
  // Removes one key, unless it is certainly absent, and adds another.
  void replace(Hash old_key, Hash new_key);

  // Returns whether changes of the running statement are deferred to its end.
  bool is_deferring() const { return transaction_.is_deferring(); }

  // Records that keys of the source may not have been added, because of the trigger of this name.
  // Lookups are refused from then on, until rebuild().
  void mark_missed(const std::string& blocking_trigger);

  // Empties the filter, gives it the single layer of `config`, and calls fill(add) as create()
  // does.
  void rebuild(const BloomConfig& config, const std::function<void(const Add&)>& fill);
  // The change log (writers=any). merge_log() moves the changes of the log into the filter, and
  // then calls fill(add) as create() does. It throws bloom::Error if a counting filter lacks a key
  // that is to be removed.
  bool has_log() const { return config_.has_log(); }
  std::uint64_t log_size() { return config().has_log() ? log_.size() : 0; }
  void merge_log(ChangeLog::Keep keep, const std::function<void(const Add&)>& fill = {});
  // Returns the FPR that pending changes add to the estimates.
  double log_fpr() { return config().has_log() ? log_.fpr(layers().newest().header) : 0; }
  bool log_has_announcement() { return config().has_log() && log_.has_announcement(); }

  // Removes all keys. A growing filter keeps only its first layer.
  void clear();
  // Removes the keys of the oldest generation, which becomes the newest. Requires: the layers are
  // generations.
  void rotate();

  // Merges a filter into the newest layer. Requires: `filter` is compatible (same geometry), and
  // the table does not grow.
  void merge_filter(const FilterView& filter, const InterruptCheck& check_interrupt);
  // The following require: the filter has one layer. read_filter() returns the filter as one
  // object.
  void halve();
  void fold(double fpr);  // as bloom::fold()
  Filter read_filter();

  // Both read all chunks. check_integrity() throws SqliteError(SQLITE_CORRUPT_VTAB) for the first
  // damage that it finds.
  void check_integrity();
  std::vector<Estimate> estimates();  // one per layer, oldest first

  int code_to_report(int code) { return transaction_.code_to_report(code); }
  // Whether the rows that are being inserted only make the table join the transaction.
  bool is_joining() const { return is_joining_; }

  // Runs a command, which may consist of several changes. If it throws, all of them are undone, and
  // no other change of the transaction is. When `run` begins, nothing is deferred, and the layers
  // are those of the transaction: what `run` checks stays true until it changes something itself.
  void run_atomically(const std::function<void()>& run);
  // Returns whether no other statement that may write was running when that command began.
  bool command_is_only_writer() const { return transaction_.is_only_writer(); }

 private:
  using WriteMode = TransactionState::WriteMode;
  // What the last check of the cache found. It decides whether the cache is still valid for the
  // next statement. Used outside a transaction.
  struct CacheState {
    // The cache was read while the connection had no open write transaction. Otherwise a rollback
    // could revert the cached rows without a call to this table.
    bool is_committed = false;
    std::optional<unsigned> data_version;
    int changes = 0;                     // sqlite3_total_changes()
    bool had_write_transaction = false;  // the connection had an open write transaction
    // The connection sees uncommitted rows of other connections, which do not change the data
    // version.
    bool sees_uncommitted = false;
    bool can_be_replaced = false;  // the whole database, without a new data version
  };
  class Change;
  class Deferral;

  // Returns the filter with its layers loaded and the deferred keys applied.
  const LayeredFilter& current_filter() {
    layers();
    if (batch_size_ != 0) {
      apply_batch();
    }
    return *filter_;
  }

  // Adds the key if the running statement defers its changes and adding cannot fail: the chunk of
  // the key must be cached and already changed. Returns whether the key was added. If the cache
  // holds all chunks, keys are collected and added in batches, which is faster. Every other access
  // to the chunks first adds the collected keys.
  bool try_defer(Hash hash) {
    if (!is_deferring() || !is_loaded_ || growth_) {
      return false;
    }
    const Placement place = filter_->placement_of(hash);
    if (!cache_.is_changed(place.chunk)) {
      return false;
    }
    if (cache_.all_chunks() == nullptr) {
      filter_->add(hash, place, cache_);
      return true;
    }
    batch_[batch_size_++] = hash;
    if (batch_size_ == batch_.size()) {
      apply_batch();
    }
    return true;
  }
  // The row log: see paged_row_log.cc. try_log() adds or removes a key there. Returns whether the
  // filter has changed, or nullopt if the change must be written to its chunk.
  std::optional<bool> try_log(Hash hash, bool is_removal = false);
  bool can_log();
  void append_to_log(Hash hash, std::uint64_t chunk, bool is_removal);
  void merge_row_log();  // writes the keys of the log to their chunks, or fails as a whole
  void write_row_log();

  void apply_batch();
  bool has_deferred_changes() const { return batch_size_ != 0 || cache_.has_changes(); }
  void write_deferred_changes();
  // Requires and announces what every change needs: an open transaction, and its savepoints.
  void join_change();
  void decide_write_mode();
  void note_written(bool counts);
  void end_statement();
  void end_transaction();

  void load();
  void refresh_cache();
  static constexpr int kChecksBeforeJoining = 8;
  bool joins_now();
  void join();
  enum class LogCopy { forget, forget_newest };  // see LoggedKeys
  // Also drops deferred changes.
  void drop_cache(LogCopy copy = LogCopy::forget);
  void note_change() { seen_epoch_ = ++connection_.epoch; }
  // A trigger that appends a row raises total_changes() at once, even while its statement runs. A
  // rollback does not lower it.
  void refresh_log() {
    if (const int changes = store_.database().total_changes(); changes != log_changes_) {
      log_changes_ = changes;
      log_.expire();
    }
  }
  // Whether this object is told of every event that may change the rows or undo changes.
  bool sqlite_reports_everything() const {
    return transaction_.is_open() && transaction_.all_savepoints_reported() && !retired_ &&
           !other_may_write_;
  }
  // Whether `other` is another object of the same table, with deferred changes.
  bool same_table_has_deferred(const PagedFilter* other) const {
    return other != nullptr && other != this && other->has_deferred_changes() &&
           other->is_of(schema(), table());
  }
  void refresh_for_lookup();
  bool refresh_for_cursor();
  bool rows_may_change() const;
  void retire_if_renamed();

  // Require: a Change is active.
  void reset_to(const BloomConfig& config);
  void halve_to(const Header& goal, unsigned times);
  void fill_with(const std::function<void(const Add&)>& fill);
  void add_while_deferring(Hash hash);
  bool add_or_grow(Hash hash);
  void add_layer();
  void merge_chunk(std::uint64_t i, const std::uint8_t* from);

  // Calls f(layer, first cell, count, cells) for each stored chunk in order. Deferred changes are
  // included. Does not write.
  template <typename F>
  void for_each_stored_chunk(F&& f);

  BloomStore store_;
  ChunkCache cache_;
  ChangeLog log_;
  LoggedKeys logged_;
  int keys_in_transaction_ = 0;  // that were written, each at once
  int log_changes_ = 0;          // total_changes() when log_ was checked last
  LookupCounts counts_;
  std::optional<Growth> growth_;
  bool is_loaded_ = false;
  BloomConfig config_;
  std::optional<LayeredFilter> filter_;  // of config_.layers
  LayerFill newest_layer_fill_;

  std::array<Hash, 64> batch_;
  std::size_t batch_size_ = 0;
  TransactionState transaction_;
  bool retired_ = false;
  bool other_may_write_ = false;  // another object of this table, in the same transaction

  ConnectionState& connection_;
  std::uint64_t seen_epoch_ = 0;
  CacheState cache_state_;
  int cursors_ = 0;  // open cursors
  // Number of the statement whose cursors need no check, and of its open cursors.
  std::uint64_t refreshed_statement_ = 1;
  int cursors_of_refreshed_statement_ = 0;
  // Whether rows may change during a statement without a new epoch.
  bool must_refresh_lookups_ = false;
  int checks_in_transaction_ = 0;  // of the cache: see joins_now()
  int checks_before_joining_ = kChecksBeforeJoining;
  bool joins_early_ = false;
  bool is_joining_ = false;
};

}  // namespace bloom
