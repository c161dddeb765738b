// The keys in the row log of a bloom table (sql/vtab/row_log.h). They are not yet in the chunks of
// the store.
//
// Each row adds a key to the newest layer, or removes a key from it. The log has only changes whose
// cells are all in one chunk, which may have no row yet. So the cells of a chunk are those in the
// store with the changes of the log applied in order. The cache holds chunks with these changes.
//
// A copy of the log is kept in memory, so that a chunk which is read again gets its changes without
// a query. It takes 24 bytes per row and 4 per chunk of the filter, at most 4 MB. All objects of a
// table in a transaction share it (filter_registry.h).
//
// An id is used again only after a rollback, and a rollback removes the newest rows. So if only
// rollbacks have happened since the copy was made, it is enough to compare the first and the last
// id. If log and copy have the same first id, and the last id of the log is not higher than that of
// the copy, the copy has every row of the log. It may have more at its end, which load() removes.
#pragma once

#include <cstdint>

#include "core/filter/layers.h"
#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/vtab/row_log.h"

namespace bloom {

class BloomRowLog {
 public:
  explicit BloomRowLog(RowLog& log) : log_(log) {}

  // Returns whether changes of this filter can be logged.
  static bool is_possible(const Layers& layers) { return layers.chunk_count() <= kMaxChunks; }

  bool empty() const { return keys_.empty(); }
  // Returns whether there are so many rows that merging costs little per row.
  bool is_long() const { return keys_.size() >= merge_at_; }
  bool is_nearly_long() const { return keys_.size() >= merge_at_ / 4 * 3 && !keys_.empty(); }
  // Returns whether the log may have got rows since end_transaction().
  bool may_have_new_rows() const { return may_have_new_rows_; }
  void end_transaction() { may_have_new_rows_ = false; }

  // Call when the cache is dropped: the copy may then differ from the log. Call
  // newest_may_be_gone() after a rollback that can only have removed the newest rows, or brought
  // back rows that a merge had removed.
  void forget() { copy_ = Copy::unknown; }
  void newest_may_be_gone() {
    copy_ = copy_ == Copy::unknown || others_may_append_ ? Copy::unknown : Copy::may_have_more;
  }
  // Call when another object of the table may append rows from now on. It can give them the ids of
  // rows that a rollback has undone.
  void others_may_append() {
    others_may_append_ = true;
    copy_ = copy_ == Copy::may_have_more ? Copy::unknown : copy_;
  }
  bool is_known() const { return copy_ != Copy::unknown; }
  bool copy_may_have_more() const { return copy_ == Copy::may_have_more; }
  // Returns whether the log has the rows of the copy, and no others. Another object of the table
  // may have merged or appended some. Requires: is_known().
  bool is_current() const;
  // Makes the copy match the log. `has_rows`: whether the log may have rows.
  void load(const Layers& layers, const LayeredFilter& filter, bool has_rows);

  // Appends a change of a key in `chunk` of the newest layer. Requires: load() was called since the
  // last forget(). If this throws, the caller calls forget().
  void append(const Layers& layers, std::uint64_t chunk, Hash hash, bool is_removal);
  // Applies the changes of chunk i to its cells. Does nothing if there are none.
  void apply(const LayeredFilter& filter, std::uint64_t i, std::uint8_t* cells) const;
  bool has_changes_of(std::uint64_t chunk) const {
    return !empty() && newest_of_[static_cast<std::size_t>(chunk)] != kNone;
  }
  // Returns the chunks with changes in order.
  CountedVector<std::uint64_t> chunks() const;
  // Empties the log. Requires: the changes are in the store.
  void clear();

 private:
  static constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 18U;  // 1 GB
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Whether keys_ is the log.
  enum class Copy { unknown, may_have_more, known };

  struct Key {
    Hash hash;
    std::uint32_t chunk_and_kind;  // 2 * chunk, + 1 for a removal
    std::uint32_t before;          // the row before of the same chunk, or kNone
  };

  void reset(const Layers& layers);
  void read(const LayeredFilter& filter, Kind kind);
  void push(std::uint64_t chunk, Hash hash, bool is_removal);
  void pop();

  RowLog& log_;
  Copy copy_ = Copy::unknown;
  bool others_may_append_ = false;
  bool may_have_new_rows_ = false;
  std::int64_t first_id_ = 1;  // of keys_[0]
  std::size_t merge_at_ = 0;
  CountedVector<Key> keys_;
  CountedVector<std::uint32_t> newest_of_;  // chunk -> the newest row, or kNone
};

}  // namespace bloom
