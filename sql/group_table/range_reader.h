// Reads the keys of ranges of rows, as hashes, to fill the filters of these ranges.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "core/hashing/hash.h"
#include "core/layout/shape.h"
#include "sql/source/source.h"
#include "sql/sqlite/statement.h"

namespace bloom {

inline constexpr std::int64_t kMinRowid = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMaxRowid = std::numeric_limits<std::int64_t>::max();

// Rowids first..last.
struct RowRange {
  std::int64_t first;
  std::int64_t last;
};

// Receives the hashes of the keys that a filter must contain, some at a time.
using AddHashes = std::function<void(std::span<const Hash>)>;

class RangeReader {
 public:
  // `id`: the INTEGER PRIMARY KEY of the source. `rows`: the number of rows per new range.
  // Requires: `source` outlives the reader, and does not change while the reader exists.
  RangeReader(const Source& source, const std::string& id, std::uint64_t rows, const Shape& shape);

  // Returns the rowid of the first of the last `rows` rows; nullopt if the source has fewer rows.
  std::optional<std::int64_t> start_of_last_rows() const;
  // Reads the first `rows` rows from rowid `first` on. Returns the last of their rowids. Requires:
  // `first` is at most start_of_last_rows(). Reads each key once. Gaps between the rowids cost
  // time: for each missing rowid, SQLite visits one row twice, first to find the last rowid and
  // then to read the key.
  std::int64_t read_rows_from(std::int64_t first, const AddHashes& add) const;
  // Reads the rows of a range. Returns their number.
  std::uint64_t read(RowRange range, const AddHashes& add) const;

 private:
  std::int64_t rowid(std::int64_t first, std::uint64_t i) const;

  std::uint64_t rows_;
  Shape shape_;
  bool is_utf8_;
  sqlite::Statement read_;
  sqlite::Statement select_rowid_;
  sqlite::Statement select_rowid_from_end_;
};

// Registers the SQL function by which RangeReader reads keys. Throws SqliteError if SQLite refuses
// it.
void add_range_reader_function(sqlite3* db);

}  // namespace bloom
