// The members and keys that the running statement adds to a bloom_groups table.
//
// Keys may be deferred in memory: see TransactionState::WriteMode. Members are written at once.
//
// Between two statements nothing is deferred, and an object reads all that it knows about the table
// from the shadow tables. So it does not matter how many objects of one table SQLite
// has in a transaction, and in which order it calls them.
// Functions throw as GroupStore does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/group_table/store/group_store.h"
#include "sql/sqlite/value.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

class GroupWriter {
 public:
  // Requires: the arguments outlive this object.
  GroupWriter(sqlite3* db, GroupStore& store, TransactionState& transaction)
      : db_(db), store_(store), transaction_(transaction) {}
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  // Returns the config. It is valid until the next call of a function of this object.
  const GroupConfig& config() { return cache().config; }
  // Returns the slot of a member, or nullopt if it does not exist.
  std::optional<std::uint64_t> find(const sqlite::Value& member);
  // Adds a member, and returns its slot. Requires: the member does not exist, and the caller undoes
  // the rows if this function throws.
  std::uint64_t add_member(const sqlite::Value& member);
  // Adds a key to the filter of a slot, defers that, or appends the key to the row log if
  // `may_use_row_log`.
  void add(std::uint64_t slot, Hash hash, bool may_use_row_log);

  // Defers all keys while it lives, for a command that adds many. Requires: the caller undoes the
  // rows if done() is not called. Keys are then forgotten.
  class Bulk {
   public:
    explicit Bulk(GroupWriter& writer)
        : writer_(writer), before_(writer.transaction_.write_mode()) {
      writer.transaction_.set_write_mode(TransactionState::WriteMode::deferred);
    }
    Bulk(const Bulk&) = delete;
    Bulk& operator=(const Bulk&) = delete;
    ~Bulk() {
      writer_.transaction_.set_write_mode(before_);
      if (!is_done_) {
        writer_.discard();
      }
    }
    void done() {
      writer_.write_deferred();
      is_done_ = true;
    }

   private:
    GroupWriter& writer_;
    TransactionState::WriteMode before_;
    bool is_done_ = false;
  };

  bool has_deferred() const { return !deferred_.empty(); }
  // Writes the deferred keys. If this fails, the keys stay deferred. A lookup within the statement
  // may have called this, and the statement may go on.
  void write_deferred();
  // Writes the keys of the row log to the segments. A lookup must not call this: SQLite rolls back
  // the whole transaction if a statement that writes is interrupted. Adding a key twice is
  // harmless, so a merge that fails halfway is, too.
  void merge_row_log();
  // The calls of SQLite. sync() merges the row log, but leaves it alone if SQLite refuses to write:
  // lookups then read it. It leaves changes() alone.
  void begin_transaction();
  void sync();
  void end_transaction() {
    forget_rows();
    store_.row_log().forget();
  }
  // Forgets the rows that the statement has read. Call when a statement may have ended or changed
  // rows without this object.
  void forget_rows() { cache_.reset(); }
  // Forgets these rows, and the deferred keys: a rollback has undone them.
  void discard() {
    deferred_.clear();
    forget_rows();
  }

 private:
  static constexpr std::size_t kMaxDeferred = std::size_t{1} << 18U;  // 8 MiB

  struct HashText {
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  // What the running statement has read. Valid while sqlite3_total_changes() stays the same: no
  // other statement has then written.
  struct Cache {
    int changes = 0;
    // What sqlite3_total_changes() is once the statement that has appended to the row log has
    // ended, if no other one writes.
    int changes_after_row = -1;
    GroupConfig config;
    using Slot = std::pair<const CountedString, std::uint64_t>;
    std::unordered_map<CountedString, std::uint64_t, HashText, std::equal_to<>,
                       CountedAllocator<Slot>>
        slots;
  };

  Cache& cache() {
    const int changes = sqlite3_total_changes(db_);
    if (!cache_ || cache_->changes != changes) {
      refresh_cache(changes);
    }
    return *cache_;
  }
  void refresh_cache(int changes);
  void remember(const sqlite::Value& member, std::uint64_t slot);
  void defer(const SlotKey& key);
  bool can_use_row_log();
  void append_to_row_log(const SlotKey& key);
  void write(const GroupConfig& config, std::span<SlotKey> keys);
  static void write_chunk(SegmentWriter& writer, const GroupConfig& config,
                          std::span<const SlotKey> keys);

  sqlite3* db_;
  GroupStore& store_;
  TransactionState& transaction_;
  std::optional<Cache> cache_;
  CountedVector<SlotKey> deferred_;
  bool row_log_may_have_rows_ = false;  // was so at some time in the open transaction
  int keys_in_transaction_ = 0;
};

}  // namespace bloom
