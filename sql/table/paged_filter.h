// The filter of a bloom table, as one connection sees it: shadow tables, with a cache of chunks in
// front of them.
//
// Invariant: between two statements nothing is pending. Whatever was added is then in SQLite's
// pages, so that SQLite's own rollback, commit, close, serialize and backup treat it as any other
// row. A change may wait in the cache only while the statement that made it is certain to run on to
// its end (see Writing), and only until SQLite reports that end.
//
// What SQLite may report, and what must hold afterwards. "Told" means reported to this table:
// SQLite does not report savepoints that were opened before the table joined the transaction, nor
// one that could not be opened because another table failed.
//
// Outside of a transaction:
//   xBegin            joins the transaction. The cache stays if no row can have changed.
//   xRollback         nothing cached.
//   no report, though rows changed or came back: the cache is read again. See Trust.
// In a transaction:
//   xBegin            no change: a second object of the same table joins.
//   xSavepoint(n)     nothing pending: n keeps all that came before it.
//   xRelease(n)       nothing pending.
//   xRollbackTo(n)    if n was told, nothing cached and nothing pending. Else no change, because n
//                     was never opened.
//   xSync             nothing pending.
//   xCommit           leaves the transaction. The cache is what the file has.
//   xRollback         leaves the transaction. Nothing cached. If the transaction goes on all the
//                     same (sqlite3_close() was refused) while a change is pending, the transaction
//                     is rolled back.
//   no report, though rows changed: only statements on the shadow tables themselves do that.
//
// Everything may throw SqliteError for a statement on the shadow tables that fails, with
// SQLITE_CORRUPT_VTAB for one that finds them damaged. A change that fails halfway and is not
// undone by SQLite with its statement rolls the whole transaction back, as SQLITE_IOERR does.
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
#include "core/operations/estimate.h"
#include "core/sizing/growth.h"
#include "sql/table/chunk_cache.h"
#include "sql/table/store.h"

namespace bloom {

class PagedFilter {
 public:
  // `growth`: adds layers as keys come (core/sizing/growth.h). `epoch`: goes up whenever a filter
  // of this connection has written rows or may have lost some to a rollback; must outlive the
  // filter.
  PagedFilter(sqlite3* db, std::string schema, std::string table, std::uint64_t cache_bytes,
              const std::optional<Growth>& growth, std::uint64_t& epoch);

  const std::string& schema() const { return store_.schema(); }
  const std::string& table() const { return store_.table(); }
  // The table was dropped, or another one has taken its name. Rolling back may undo either.
  void retire() { retired_ = true; }
  bool is_of(const std::string& schema, const std::string& table) const;
  // Whether another object of this table must share this filter: its transaction is under way.
  bool is_changing(const std::string& schema, const std::string& table, bool grows) const;

  // Adds one key, by its hash.
  using Add = std::function<void(Hash hash)>;

  // Makes the shadow tables, and joins the transaction. `config` has one layer. fill(add) is called
  // once, and adds the first keys.
  void create(const Config& config, const std::function<void(const Add&)>& fill = {});
  void drop();
  void rename(const std::string& table);

  // Reports of SQLite: see the table above.
  void begin();
  void savepoint(int number);
  void released(int number);
  void rolled_back_to(int number);
  void sync() { write_pending(); }
  void committed();
  void rolled_back();

  // Call before each lookup outside of a change: drops the cache if it may be out of date.
  void begin_reading() {
    if (!in_transaction_ && (seen_epoch_ != epoch_ || trust_.sees_uncommitted)) {
      check_cache();
    }
  }
  // The same, at the beginning of a statement.
  void begin_statement() {
    if (!in_transaction_) {
      check_cache();
    }
  }

  void statement_was_prepared() { store_.statement_was_prepared(); }

  // Does not apply deferred keys; called once per row.
  const Layers& layers() {
    if (!is_loaded_) {
      load();
    }
    return layers_;
  }
  const Shape& shape() { return layers().shape(); }
  const Config& config() { return layers(), config_; }
  // Config::guard, also of a table that is damaged: empty then.
  std::string stored_guard() { return store_.load_guard(); }
  bool grows() const { return growth_.has_value(); }

  // Like those of core's Filter. A filter that grows skips a key that it may contain already; add()
  // returns false then, too. replace() removes one key and adds another.
  bool may_contain(Hash hash) { return loaded().may_contain(hash, cache_); }
  bool add(Hash hash);
  // Adds a key without the answer, which lets many keys be added together.
  void add_deferred(Hash hash) {
    if (can_defer(hash)) {
      defer(hash);
    } else {
      add(hash);
    }
  }
  bool remove(Hash hash);
  void replace(Hash old_key, Hash new_key);

  // Whether the running statement has made changes that wait for its end.
  bool is_in_bulk() const { return writing_ == Writing::deferred; }

  // Counts a key that left the source and stays in the filter.
  void note_stale_key();
  // Records that rows of the source may have changed without their keys being added, and why. Every
  // lookup is refused from then on, until remake().
  void mark_missed(const std::string& why);

  // Empties the filter, gives it the one layer of `config`, and fills it.
  void remake(const Config& config, const std::function<void(const Add&)>& fill);
  // Empties the filter. Only its first layer remains.
  void clear();

  // Requires: one layer. merge(): a filter of the same shape.
  void merge(const FilterView& filter, const InterruptCheck& check_interrupt);
  void halve();
  Filter full_filter();

  // Read all chunks. check() throws for the first damage that it finds.
  void check();
  std::vector<Estimate> estimates();  // one per layer

  // A change has failed with this result code: the code to report to SQLite.
  int code_to_report(int code);

 private:
  // How the changes of the running statement reach the pages. Reset by every report of SQLite that
  // may end a statement.
  enum class Writing {
    undecided,  // one key may have been added, and was written
    immediate,  // each change is written when it is done
    // Changes wait for the end of the statement. Its failure undoes them, because it has a
    // savepoint of its own, or is the only writer of an implicit transaction.
    deferred,
  };
  // Whose the innermost savepoint is. That of a statement is released before anything else can
  // happen.
  enum class Owner { user, statement, unknown };
  // Whether the cache of a table that is in no transaction can be used by the next statement.
  struct Trust {
    // It was read while the connection had no write transaction open. (If it had one, its rollback
    // would take cached rows back without a report.)
    bool is_committed = false;
    std::optional<unsigned> data_version;
    int changes = 0;  // sqlite3_total_changes()
    // Rows come and go that no data version tells of.
    bool sees_uncommitted = false;
  };
  class Change;
  class Deferral;

  const LayeredFilter<ChunkCache>& loaded() {
    layers();
    if (pending_count_ != 0) {
      apply_pending_keys();
    }
    return *filter_;
  }

  // Keys may be collected and added together if that cannot fail: their chunks are cached and
  // changed already. Whatever else is done with the chunks adds the collected keys first.
  bool can_defer(Hash hash) const {
    return writing_ == Writing::deferred && is_loaded_ && !growth_ &&
           cache_.is_changed(filter_->chunk_of(hash));
  }
  void defer(Hash hash) {
    pending_keys_[pending_count_++] = hash;
    if (pending_count_ == pending_keys_.size()) {
      apply_pending_keys();
    }
  }
  void apply_pending_keys();
  bool has_pending() const { return pending_count_ != 0 || cache_.has_changes(); }
  void write_pending();
  bool defers_changes();
  bool has_written_in_this_statement() const;
  void note_written(bool counts);
  void end_statement();
  void end_transaction();

  void load();
  void check_cache();
  void forget();  // also what is pending
  void note_change() { seen_epoch_ = ++epoch_; }

  // For a Change that is under way.
  void reset_to(const Config& config);
  void fill_with(const std::function<void(const Add&)>& fill);
  bool add_or_grow(Hash hash);
  void grow_if_full(Hash hash);
  double keys_in_newest();
  void merge_chunk(std::uint64_t i, const std::uint8_t* from);
  std::vector<std::uint64_t> chunks_to_halve(std::uint64_t half_count);
  void set_layers();

  // Calls f(layer, first cell, count, cells) for each stored chunk in order, as changed by what is
  // pending. Writes nothing.
  template <typename F>
  void for_each_run(F&& f);

  Store store_;
  ChunkCache cache_;
  std::optional<Growth> growth_;
  bool is_loaded_ = false;
  Config config_;
  Layers layers_;
  std::optional<LayeredFilter<ChunkCache>> filter_;
  // So many keys certainly fit into the newest layer, as far as this transaction knows.
  std::uint64_t room_ = 0;
  std::uint64_t unchecked_keys_ = 0;  // added since the fill of the newest layer was looked at

  std::array<Hash, 64> pending_keys_;
  std::size_t pending_count_ = 0;
  Writing writing_ = Writing::undecided;
  bool wrote_a_key_ = false;  // while undecided
  // Innermost savepoint that is open and was told; -1 is the transaction.
  int innermost_ = -1;
  Owner innermost_owner_ = Owner::user;
  bool has_just_joined_ = false;            // the transaction, in the running statement
  std::optional<int> changes_after_write_;  // sqlite3_total_changes() after the last change

  bool in_transaction_ = false;
  // Whether SQLite reports a rollback to any savepoint that is open.
  bool knows_savepoints_ = true;
  std::uint64_t rollbacks_ = 0;
  bool must_roll_back_ = false;  // a change failed halfway, and ROLLBACK failed too
  bool retired_ = false;

  std::uint64_t& epoch_;
  std::uint64_t seen_epoch_ = 0;
  Trust trust_;
};

}  // namespace bloom
