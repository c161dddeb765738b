// The changes of the filter of a bloom table, in the transactions of SQLite. It is called paged
// because its cells are rows that fit on a page: see core/layout/chunk_layout.h.
//
// Invariant: between two statements no change is deferred. Every added key is then in SQLite's
// pages: in its chunk, or in the row log (bloom_row_log.h). SQLite's own rollback, commit, close,
// serialize and backup therefore treat it like any other row. A change may wait in the cache only
// if its statement is certain to run to its end (see TransactionState::WriteMode). SQLite then
// reports that end, and the change is written.
//
// The table below lists the calls of SQLite and what must hold after each. transaction_state.h says
// when a savepoint n is "known".
//
// Outside a transaction:
//   xBegin            joins the transaction. The cache stays valid if no row can have changed.
//   xRollback         the cache is empty.
//   no call, but rows were changed: the next statement empties the cache. Usually another
//   connection has committed. CacheState and cache_validity.cc handle the other causes.
// In a transaction:
//   xBegin            a second object of this table joins. Who opened the savepoint that SQLite
//                     reports to it is then unknown.
//   xSavepoint(n)     nothing is deferred: savepoint n includes every earlier change.
//   xRelease(n)       nothing is deferred.
//   xRollbackTo(n)    the cache is empty and nothing is deferred. If n is known, SQLite has taken
//                     back the newest rows of the row log, or has brought back merged rows.
//                     Otherwise n was never opened.
//   xSync             nothing is deferred, and the row log is empty, except as row_log.h says.
//   xCommit           leaves the transaction. The cache matches the file.
//   xRollback         leaves the transaction. The cache is empty. If sqlite3_close() was refused,
//                     the transaction is still open. If a change was deferred in that case, the
//                     whole transaction is rolled back. Rows of the row log stay: a commit that
//                     follows without xSync commits them.
//   no call, but rows were changed: only direct writes to the shadow tables do this.
//
// Every function may throw SqliteError if a statement on the shadow tables fails. The code is
// SQLITE_CORRUPT_VTAB if the shadow tables are damaged. If a change fails halfway, SQLite may not
// undo it. The whole transaction is then rolled back, as after SQLITE_IOERR.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/filter/filter.h"
#include "sql/bloom_table/paged/cached_filter.h"

namespace bloom {

class PagedFilter : public CachedFilter {
 public:
  using CachedFilter::CachedFilter;

  // Adds one key, given its hash.
  using Add = std::function<void(Hash hash)>;

  // Creates the shadow tables and joins the transaction. Calls fill(add) once; `fill` adds the
  // initial keys by calling `add`. Requires: `config` has one layer, or generations.
  void create(const BloomConfig& config, const std::function<void(const Add&)>& fill = {});
  void drop();
  // Requires: require_names_are_free(table) has passed.
  void rename(const std::string& table);
  void require_names_are_free(const std::string& table) const {
    store_.tables().require_names_are_free(table);
  }

  // The calls of SQLite: see the table at the top.
  void begin();
  void savepoint(int number);
  void released(int number);
  void rolled_back_to(int number);
  void sync();
  void committed();
  void rolled_back();

  // As Filter::add(). A growing filter does not add a key that it may already contain, and then
  // returns false. `counts_in_changes`: SQLite will count the row in changes(), if this returns
  // true.
  bool add(Hash hash, bool counts_in_changes = true);
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
  // Moves the changes of the change log into the filter, and then calls fill(add) as create() does.
  // Throws bloom::Error if a counting filter lacks a key that is to be removed.
  void merge_change_log(ChangeLog::Keep keep, const std::function<void(const Add&)>& fill = {});

  // Removes all keys. A growing filter keeps only its first layer.
  void clear();
  // Removes the keys of the oldest generation, which becomes the newest. Requires: the layers are
  // generations.
  void rotate();

  // Merges a filter into the newest layer. Requires: `filter` has the shape of that layer, and the
  // table does not grow.
  void merge_filter(const FilterView& filter, const InterruptCheck& check_interrupt);
  // Require: the filter has one layer.
  void halve();
  void fold(double fpr);  // as bloom::fold()

  int code_to_report(int code) { return transaction_.code_to_report(code); }

  // Runs a command, which may consist of several changes. If it throws, all of them are undone, and
  // no other change of the transaction is. When `run` begins, nothing is deferred, and the layers
  // are those of the transaction: what `run` checks stays true until it changes something itself.
  void run_atomically(const std::function<void()>& run);
  // Returns whether no other statement that may write was running when that command began.
  bool command_is_only_writer() const { return transaction_.is_only_writer(); }

 private:
  using WriteMode = TransactionState::WriteMode;
  class Change;
  class Deferral;

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
  // The row log: see paged_row_log.cc. try_row_log() adds or removes a key there. Returns whether
  // the filter has changed, or nullopt if the change must be written to its chunk.
  std::optional<bool> try_row_log(Hash hash, bool is_removal, bool counts_in_changes = true);
  bool can_use_row_log();
  void append_to_row_log(Hash hash, std::uint64_t chunk, bool is_removal);
  void merge_row_log();  // writes its keys to their chunks, or fails as a whole
  void write_row_log();
  void merge_row_log_after_savepoint();

  // Throws if the table is another one now, or no transaction is open. Makes SQLite report all open
  // savepoints.
  void require_transaction();
  void decide_write_mode();
  void note_written(bool counts_in_changes);
  void end_statement();
  void retire_if_renamed();

  // Require: a Change is active.
  void reset_to(const BloomConfig& config);
  void halve_to(const Header& goal, unsigned times);
  void fill_with(const std::function<void(const Add&)>& fill);
  void add_while_deferring(Hash hash);
  bool add_or_grow(Hash hash);
  void add_layer();
  void merge_chunk(std::uint64_t i, const std::uint8_t* from);

  int keys_in_transaction_ = 0;  // without those that were deferred
};

}  // namespace bloom
