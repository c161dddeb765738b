// Lookups in the filter over the whole table. It has the keys of all covered rows but those that
// the triggers have noted. The keys of the other rows, which are pending, are read from the source
// and kept in memory. If a key is in neither, no row has it.
//
// What is in memory is right as long as no row of the database file has changed, which the data
// version shows. There is no answer while the connection has a write transaction. A rollback could
// then bring back rows that were gone when the pending rows were read, and SQLite does not report
// that.
//
// Reading the pending rows takes as long as several lookups without the filter. They are read at
// the 4th lookup after a change if they are at most 16, else at the 16th if they are at most 64,
// and so on, up to 100,000.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/filter/chunked.h"
#include "core/support/memory.h"
#include "sql/search_table/ranges/range_builder.h"
#include "sql/search_table/ranges/row_receiver.h"
#include "sql/search_table/ranges/search_store.h"
#include "sql/sqlite/database.h"

namespace bloom {

class TableFilterLookup final : public RowReceiver {
 public:
  // `columns`: those of Family::values_and_words. Requires: the arguments outlive the object.
  TableFilterLookup(SearchStore& store, SearchSource& source, const std::vector<KeyRule>& columns);

  // Call when a statement is prepared, and when the table was renamed: the schema may have changed.
  void expire();
  // Call before each lookup. Returns false if the filter cannot answer now. Reads what the filter
  // needs when it is worth it.
  bool make_ready();
  // Requires: make_ready() has returned true.
  bool has(const KeyRule& column) const { return has_item_[column.item]; }
  // Returns false only if no row has one of these keys. Requires: make_ready() has returned true,
  // and the keys are of columns that it has.
  bool may_have(std::span<const SearchKey> keys);

  bool add_row(std::int64_t rowid, const sqlite::Values& values) override;

 private:
  void prepare();
  bool read_pending(const SearchConfig& config);

  enum class State { unknown, ready, unusable };
  static constexpr std::uint64_t kFirstTry = 4;

  SearchStore& store_;
  SearchSource& source_;
  const std::vector<KeyRule>& columns_;
  sqlite::Database database_;
  State state_ = State::unknown;
  bool is_preparing_ = false;
  std::optional<unsigned> version_;  // of the data when the state was found
  std::uint64_t lookups_ = 0;        // in the state `unknown`
  std::uint64_t next_try_ = kFirstTry;
  std::optional<ChunkedFilter> filter_;
  TableFilterChunks chunks_;
  std::vector<bool> has_item_;
  std::vector<KeyRule> filter_columns_;  // those of columns_ that the filter has
  std::optional<KeySet> pending_;        // keys of the pending rows
  std::uint64_t rows_left_ = 0;          // that read_pending() may still read
};

}  // namespace bloom
