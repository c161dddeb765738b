// The filter over the whole table of a bloom_search table: the keys of the `equal` columns that
// have an index in the source. Its cells are in chunks, in the table <name>_data: chunk i has the
// id 2^61 + i. Those of the segments have smaller ids.
//
// Functions throw SqliteError if a statement fails, with the code SQLITE_CORRUPT_VTAB for chunks
// that are missing or not valid.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layout/chunk_layout.h"
#include "core/layout/format.h"
#include "core/support/bytes.h"
#include "core/support/memory.h"
#include "sql/search_table/ranges/search_keys.h"
#include "sql/search_table/search_options.h"
#include "sql/values/integers.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// What the config of a table has of the filter.
struct TableFilterConfig {
  Header header;           // no cells: there is no filter
  std::uint64_t keys = 0;  // estimate of how many different keys were added
  std::string columns;     // " 0:binary  3:nocase ": items of the options, and their collations

  bool is_used() const { return header.shape.cells != 0; }
  // Returns whether the filter has the keys of this column.
  bool has(const KeyRule& column) const;
  // Returns the columns that the filter has, of these.
  std::vector<KeyRule> columns_of(const std::vector<KeyRule>& all) const;
  static std::string describe(const std::vector<KeyRule>& columns);
};

class TableFilterStore {
 public:
  // `writes`: a counter that rises with every write. Requires: both outlive the store.
  TableFilterStore(ShadowTables& tables, std::uint64_t& writes)
      : tables_(tables), writes_(writes) {}
  TableFilterStore(const TableFilterStore&) = delete;
  TableFilterStore& operator=(const TableFilterStore&) = delete;

  // Requires: `cells` has the size of chunk i.
  void read(std::uint64_t i, std::span<std::uint8_t> cells);
  // Requires: the caller has a KeepLastRowid.
  void write(std::uint64_t i, std::span<const std::uint8_t> cells);
  void clear();

  void check(const TableFilterConfig& config);

 private:
  ShadowTables& tables_;
  std::uint64_t& writes_;
};

// The chunks that a connection has read: see core/filter/chunked.h. Chunk i has one place, i modulo
// the number of places.
class TableFilterChunks {
 public:
  explicit TableFilterChunks(TableFilterStore& store) : store_(store) {}
  // Forgets all chunks. Makes as many places as the filter has chunks, or fewer: at most 32 MiB,
  // and a quarter of the memory that is left.
  void reset(const Shape& shape);
  std::uint8_t* at(std::uint64_t i) {
    const std::size_t place = as_size(i < chunks_.size() ? i : i % chunks_.size());
    if (chunks_[place] != i) {
      load(place, i);
    }
    return cells_.get() + place * kChunkBytes;
  }

 private:
  void load(std::size_t place, std::uint64_t i);

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kMostChunks = (std::uint64_t{1} << 25U) / kChunkBytes;  // 32 MiB
  TableFilterStore& store_;
  Shape shape_;
  CountedVector<std::uint64_t> chunks_;
  OwnedBytes cells_;
};

}  // namespace bloom
