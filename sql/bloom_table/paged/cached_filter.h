// The filter of a bloom table as lookups of one connection see it: the shadow tables, and a cache
// of chunks in front of them.
//
// When the cache is filled, the rows of the row log are read as well, if the config says that there
// may be any. They are applied to each chunk that comes from the store. paged_filter.h lists the
// calls of SQLite, and when they empty the cache.
//
// The change log (sql/source/change_log.h) is an ordinary table, so SQLite calls nothing when a
// program appends to it. A lookup therefore reads its new rows after
//   - sqlite3_total_changes() has changed: this connection may have appended rows,
//   - the data version of the file has changed: another connection may have, and
//   - a call of SQLite that empties the cache.
//
// Every function may throw SqliteError if a statement on the shadow tables fails. The code is
// SQLITE_CORRUPT_VTAB if the shadow tables are damaged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/filter/chunked.h"
#include "core/filter/filter.h"
#include "core/filter/layers.h"
#include "core/operations/estimate_result.h"
#include "core/sizing/growth.h"
#include "sql/bloom_table/paged/bloom_row_log.h"
#include "sql/bloom_table/paged/bloom_store.h"
#include "sql/bloom_table/paged/chunk_cache.h"
#include "sql/bloom_table/paged/layer_fill.h"
#include "sql/source/bloom_change_log.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

class CachedFilter;

// What the filters of one connection share. Must outlive them.
struct SharedByFilters {
  // Goes up whenever a filter has written rows, or may have lost some to a rollback.
  std::uint64_t epoch = 1;
  // Whether SQLite may roll the open transaction back without a call to us. Either SQLite has
  // called xRollback in an sqlite3_close() and then refused to close, so that the transaction is
  // still open. Or an object with changes is retired, and may be freed before the rollback.
  bool rollback_may_go_unreported = false;
  CachedFilter* deferring = nullptr;  // the last filter that has deferred changes
};

// What the lookups of one connection have done, since it opened the table or read the schema again.
struct LookupCounts {
  std::uint64_t lookups = 0;
  std::uint64_t absent = 0;  // of them
  void count(bool found) {
    ++lookups;
    absent += found ? 0 : 1;
  }
};

class CachedFilter {
 public:
  // `growth`: if given, layers are added as the number of keys rises (core/sizing/growth.h).
  CachedFilter(sqlite3* db, std::string schema, std::string table, std::uint64_t cache_bytes,
               const std::optional<Growth>& growth, SharedByFilters& shared);
  CachedFilter(const CachedFilter&) = delete;
  CachedFilter& operator=(const CachedFilter&) = delete;
  ~CachedFilter();

  // Call when a new object of the table was connected.
  void note_connected() {
    store_.tables().note_connected();
    must_refresh_lookups_ = true;
  }

  const std::string& table() const { return store_.tables().table(); }
  // Call when `other` was made or renamed. If it has the name of this table, this filter is out of
  // date. A statement that is running may still write through it.
  void retire_if_replaced_by(CachedFilter& other) {
    if (&other != this && is_same_table(other)) {
      retire();
      other.may_change_unreported_ = other.may_change_unreported_ || transaction_.is_open();
    }
  }
  // Returns whether a new object of the table must share this filter: the filter is of that table,
  // grows if `grows`, is in a transaction of which it knows all savepoints, and is not retired.
  bool must_be_shared(const std::string& schema, const std::string& table, bool grows) const;

  // Call before each lookup, unless a change is in progress. Empties the cache if it may be out of
  // date.
  void prepare_lookup() {
    if (seen_epoch_ != shared_.epoch || must_refresh_lookups_) {
      refresh_for_lookup();
    }
    if (has_change_log()) {
      refresh_change_log();
    }
  }
  // Call at the beginning of each statement. Checks the cache even if this connection has changed
  // nothing, because other connections may have.
  void begin_statement() {
    if (!sqlite_reports_everything()) {
      refresh_cache();
    }
    if (has_change_log()) {
      refresh_change_log();
    }
  }

  void statement_was_prepared() { store_.database().read_uncommitted().statement_was_prepared(); }

  // Returns the layers, and loads them if necessary. Does not apply deferred keys, because it is
  // called for each row.
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
  bool has_generations() { return layers().are_generations(); }

  // As Filter::may_contain(). Also looks the key up in the change log, if there is one.
  bool may_contain(Hash hash) {
    return current_filter().may_contain(hash, cache_) ||
           (has_change_log() && change_log_.may_contain(hash, layers().newest().header));
  }
  // As above, but reads only a part of a long change log. Returns nullopt if the rest may have the
  // key.
  std::optional<bool> may_contain_so_far(Hash hash) {
    if (current_filter().may_contain(hash, cache_)) {
      return true;
    }
    return has_change_log() ? change_log_.may_contain_so_far(hash, layers().newest().header)
                            : std::optional(false);
  }
  LookupCounts& lookup_counts() { return counts_; }
  // Returns how many times a lookup or a change has read a chunk from the store.
  std::uint64_t chunks_read() const { return cache_.chunks_read(); }
  bool has_change_log() const { return config_.has_change_log(); }
  std::uint64_t change_log_size() { return config().has_change_log() ? change_log_.size() : 0; }
  // Returns the FPR that pending changes add to the estimates.
  double change_log_fpr() {
    return config().has_change_log() ? change_log_.fpr(layers().newest().header) : 0;
  }
  bool change_log_has_announcement() {
    return config().has_change_log() && change_log_.has_announcement();
  }

  // Returns the filter as one object. Requires: the filter has one layer.
  Filter read_filter();

  // Both read all chunks. check_integrity() throws SqliteError(SQLITE_CORRUPT_VTAB) for the first
  // damage that it finds.
  void check_integrity();
  std::vector<Estimate> estimates();  // one per layer, oldest first

 protected:
  // Marks the filter as not to be shared with new table objects. Call when the table was dropped,
  // or when another table took its name. The filter stays usable, because a rollback may undo
  // either.
  void retire() {
    retired_ = true;
    shared_.rollback_may_go_unreported =
        shared_.rollback_may_go_unreported || transaction_.is_open();
    row_log_.others_may_append();
    watch_name();
  }
  // Call when the table may have another name than its object.
  void watch_name() {
    must_refresh_lookups_ = true;
    store_.tables().watch_name();
  }

  // Returns the filter with its layers loaded and the deferred keys applied.
  const LayeredFilter& current_filter() {
    layers();
    if (batch_size_ != 0) {
      apply_batch();
    }
    return *filter_;
  }

  void apply_batch();
  bool has_deferred_changes() const { return batch_size_ != 0 || cache_.has_changes(); }
  void write_deferred_changes();

  // Whether this object is told of every event that may change the rows or undo changes.
  bool sqlite_reports_everything() const {
    return transaction_.is_open() && transaction_.all_savepoints_reported() && !retired_ &&
           !may_change_unreported_;
  }
  void refresh_cache();
  enum class RowLogAction { forget, newest_may_be_gone };  // functions of BloomRowLog
  // Sets schema_row_of_log_. Call when row_log_ is copied or appended to.
  void note_table_of_log();
  // Also drops deferred changes.
  void drop_cache(RowLogAction action = RowLogAction::forget);
  void note_change() { seen_epoch_ = ++shared_.epoch; }
  // Drops the cache if rows may have changed since it was filled. Call before the transaction is
  // joined.
  void check_cache_at_begin();
  // Call at the end of a transaction. After a commit the cache stays valid, unless another object
  // of the table may have written.
  void note_commit();
  void note_rollback();

  BloomStore store_;
  ChunkCache cache_;
  BloomChangeLog change_log_;
  BloomRowLog row_log_;
  std::int64_t schema_row_of_log_ = 0;  // ShadowTables::row_in_schema() of that time
  std::optional<Growth> growth_;
  bool is_loaded_ = false;
  BloomConfig config_;
  std::optional<LayeredFilter> filter_;  // of config_.layers
  LayerFill newest_layer_fill_;
  std::array<Hash, 64> batch_;
  std::size_t batch_size_ = 0;
  TransactionState transaction_;
  SharedByFilters& shared_;

 private:
  // What the last check of the cache found. It decides whether the cache is still valid for the
  // next statement. Used while this object takes no part in a transaction.
  struct CacheState {
    // If true, the rows, as this connection sees them, differ only after one of the versions below
    // has changed. If false, a rollback can change them without a call to this object.
    bool is_settled = false;
    std::optional<unsigned> data_version;         // see sqlite::Database
    std::optional<std::int64_t> foreign_version;  // see sqlite::Database
    int changes = 0;                              // sqlite3_total_changes()
    bool saw_write_transaction = false;           // a check was made while there was one
    // The connection sees uncommitted rows of other connections, which do not change the data
    // version.
    bool sees_uncommitted = false;
  };

  void load();
  void load_row_log();
  bool is_same_transaction_state() const;
  bool is_cache_settled(bool writing) const;
  bool is_cache_current(bool writing);
  void remember_version();
  // A trigger that appends a row raises total_changes() at once, even while its statement runs. A
  // rollback does not lower it.
  void refresh_change_log() {
    if (const int changes = store_.database().total_changes(); changes != changes_at_refresh_) {
      changes_at_refresh_ = changes;
      change_log_.expire();
    }
  }
  bool is_same_table(const CachedFilter& other) const {
    return store_.tables().has_name(other.store_.tables().schema(), other.table());
  }
  // Whether `other` is another object of the same table, with deferred changes.
  bool same_table_has_deferred(const CachedFilter* other) const {
    return other != nullptr && other != this && other->has_deferred_changes() &&
           is_same_table(*other);
  }
  void refresh_for_lookup();
  bool rows_may_change() const;
  void end_transaction();

  // Calls f(layer, first cell, count, cells) for each chunk that may have keys, in order. Deferred
  // and logged changes are included. Does not write.
  template <typename F>
  void for_each_used_chunk(F&& f);

  int changes_at_refresh_ = 0;  // total_changes() at the last refresh_change_log()
  LookupCounts counts_;
  bool retired_ = false;
  // Another object of this table takes part in the open transaction.
  bool may_change_unreported_ = false;
  std::uint64_t seen_epoch_ = 0;
  CacheState cache_state_;
  // Whether the next lookup must refresh although the epoch is the same.
  bool must_refresh_lookups_ = false;
};

}  // namespace bloom
