// Makes the filter over the whole table, and adds the keys of new and changed rows to it. The keys
// of deleted rows stay until the filter has 1.5 times the keys that it was sized for. It is then
// made again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/filter/chunked.h"
#include "core/operations/hyperloglog.h"
#include "core/support/memory.h"
#include "sql/search_table/ranges/range_builder.h"
#include "sql/search_table/ranges/row_receiver.h"
#include "sql/search_table/table_filter/table_filter_store.h"

namespace bloom {

class TableFilterBuilder final : public RowReceiver {
 public:
  // Requires: the arguments outlive the builder.
  TableFilterBuilder(TableFilterStore& store, const SearchSource& source,
                     TableFilterConfig& config);

  // Makes the filter of the keys of these columns in the rows up to `covered`.
  void build(std::vector<KeyRule> columns, std::int64_t covered);
  // Adds the keys of rows. Returns false if the filter must be made again instead. `columns`: all
  // that the filter has.
  bool add(std::vector<KeyRule> columns, const RowidRanges& rows);

  bool add_row(std::int64_t rowid, const sqlite::Values& values) override;

 private:
  struct Window;  // the chunks that are in memory while the filter is made

  void read(const RowidRanges& rows);
  void take_keys();
  bool add_collected();

  TableFilterStore& store_;
  const SearchSource& source_;
  TableFilterConfig& config_;
  bool is_utf8_;
  std::vector<KeyRule> columns_;
  KeySet keys_;
  // What becomes of the keys: they are counted, set in the chunks of the window, or collected.
  std::optional<HyperLogLog> counted_;
  Window* window_ = nullptr;
  CountedVector<Hash> collected_;
};

}  // namespace bloom
