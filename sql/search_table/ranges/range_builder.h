// Reads rows of a source and makes ranges of them, each with its filter. A range ends when its
// filter has as many distinct keys as it is sized for, or when it has kMaxRangeRows rows.
//
// If the keys of a row are not known, the filter of its range says "maybe" to every key. For
// example, an expression may fail for a row. The text of a REAL or a BLOB is not known either: it
// depends on the version and the build of SQLite.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layout/format.h"
#include "core/support/memory.h"
#include "sql/search_table/ranges/row_receiver.h"
#include "sql/search_table/ranges/search_keys.h"
#include "sql/search_table/ranges/search_store.h"
#include "sql/segments/filter_batch.h"
#include "sql/sqlite/value.h"

namespace bloom {

inline constexpr std::uint64_t kMaxRangeRows = 8192;

// Returns the header of each filter of the family with these columns.
Header header_of(const std::vector<KeyRule>& columns);

// A set of keys that remembers the order in which they came.
class KeySet {
 public:
  KeySet() { clear(); }
  void add(SearchKey key);
  bool contains(SearchKey key) const;
  std::size_t size() const { return keys_.size(); }
  std::span<const SearchKey> keys() const { return keys_; }
  void clear();

 private:
  void grow();
  // Returns the number of the slot of a key, or of the free slot for it.
  std::size_t slot_of(SearchKey key) const;
  SearchKeys keys_;
  CountedVector<SearchKey> table_;  // 0: free
  std::size_t mask_ = 0;
};

class RangeBuilder final : public RowReceiver {
 public:
  // Requires: the arguments outlive the builder.
  RangeBuilder(SearchStore& store, const SearchSource& source, Family family,
               const std::vector<KeyRule>& columns, FamilyConfig& config);
  RangeBuilder(const RangeBuilder&) = delete;
  RangeBuilder& operator=(const RangeBuilder&) = delete;

  // Makes ranges of these rows. Requires: no range has any of them.
  void read(RowidRange rows);
  // Writes what is still in memory. Returns the number of rows that were read.
  std::uint64_t finish();

  bool add_row(std::int64_t rowid, const sqlite::Values& values) override;

 private:
  void end_range(std::int64_t last);
  std::uint64_t next_slot();
  std::int64_t skip_failing_rows(RowidRange rows);

  SearchStore& store_;
  const SearchSource& source_;
  Family family_;
  const std::vector<KeyRule>& columns_;
  FamilyConfig& config_;
  FilterBatch batch_;
  CountedVector<std::uint64_t> free_;
  std::size_t next_free_ = 0;
  std::size_t limit_;
  bool is_utf8_;
  std::uint64_t rows_ = 0;  // of all ranges
  // Of the range in progress.
  KeySet keys_;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::uint64_t range_rows_ = 0;
  bool is_unknown_ = false;
};

// Adds the keys of a value. Returns false if they are not known. `as_stored`: see Key.
bool append_keys(const KeyRule& column, const sqlite::Value& value, bool as_stored, KeySet& keys);

}  // namespace bloom
