// The row log of a bloom_groups table (sql/vtab/row_log.h): keys that are not in the segments yet.
// A row has slot, hash and a token. The tokens of one object count up from a random number, so
// practically no token is used twice.
//
// SQLite can have several objects of one table in a transaction. So an object does not rely on what
// it has appended or merged itself: it reads the shadow table. Lookups keep a copy, so that they
// need not read all rows each time. The copy matches the log if both have the same newest row. This
// holds because no token is used twice, and rows are removed all at once or from the newest one on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/group_table/store/group_config.h"
#include "sql/vtab/row_log.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

class GroupRowLog {
 public:
  struct Key {
    std::uint64_t slot;
    Hash hash;
  };

  // Requires what RowLog requires. Functions throw as RowLog does.
  GroupRowLog(ShadowTables& tables, std::uint64_t& writes) : log_(tables, writes) {}
  GroupRowLog(const GroupRowLog&) = delete;
  GroupRowLog& operator=(const GroupRowLog&) = delete;

  // Appends a key. Returns how many keys the log has.
  std::uint64_t append(const Key& key);
  void clear() { log_.clear(); }
  void restore_changes(int changes) { log_.restore_changes(changes); }
  bool is_merge_refused(const char* write) { return log_.is_merge_refused({write}); }

  // Calls f(key) for each key of the log in order, without the copy.
  template <typename F>
  void for_each_stored(const GroupConfig& config, F&& f) {
    std::int64_t next = 1;
    log_.for_each([&](std::int64_t id, std::span<const std::uint8_t> bytes) {
      require_next(id, next++);
      f(parse(bytes, config).key);
    });
  }

  // Makes the copy match the log. `config`: as it is now. Throws if rows are missing or
  // damaged.
  void read(const GroupConfig& config);
  void forget();
  // Returns whether the table has rows, whatever its config says.
  bool has_rows() {
    return log_.with_newest([](auto, auto) {});
  }
  // The next functions are about the copy.

  bool empty() const { return rows_.empty(); }
  // Calls f(key) for each key in order.
  template <typename F>
  void for_each(F&& f) const {
    for (const Row& row : rows_) {
      f(row.key);
    }
  }
  // Calls f(slot) for each row with this hash.
  template <typename F>
  void for_each_slot_with(Hash hash, F&& f) const {
    for (std::uint32_t i = rows_.empty() ? kNone : newest_[bucket_of(hash)]; i != kNone;
         i = rows_[i].before) {
      if (rows_[i].key.hash == hash) {
        f(rows_[i].key.slot);
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Row {
    Key key;
    std::uint64_t token;
    std::uint32_t before;  // the row before in the same bucket, or kNone
  };

  static void require_next(std::int64_t id, std::int64_t next);
  static Row parse(std::span<const std::uint8_t> bytes, const GroupConfig& config);
  bool read_newer_rows(const GroupConfig& config);
  bool has(std::int64_t id, std::uint64_t token) const {
    return id >= 1 && static_cast<std::uint64_t>(id) <= rows_.size() &&
           rows_[static_cast<std::size_t>(id) - 1].token == token;
  }
  std::size_t bucket_of(Hash hash) const {
    return static_cast<std::size_t>(hash.h1) & (newest_.size() - 1);
  }
  void push(const Row& row);
  void pop();

  RowLog log_;
  std::optional<std::uint64_t> next_token_;  // nullopt before the first append()
  CountedVector<Row> rows_;                  // the row with id 1 first
  CountedVector<std::uint32_t> newest_;      // of each bucket; their number is a power of 2
};

}  // namespace bloom
