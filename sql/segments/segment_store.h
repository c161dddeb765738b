// Filters of equal shape, side by side, in two shadow tables of a virtual table, and the SQL that
// reads and writes them. A slot is the number of a filter: the filter is bit slot % 64 of segment
// slot / 64. A virtual table may keep two families of filters there, each of its own
// shape: the ids of family 1 begin at 2^60.
//
// <name>_data(id INTEGER PRIMARY KEY, chunk BLOB)       the segments
// <name>_wide(id INTEGER PRIMARY KEY, words BLOB)       those that 'optimize' has rearranged
//
// The first SegmentConfig::wide_segments segments are in _wide, the others in _data.
//   _data: chunk c of segment s has the id c * 2^24 + s. A lookup reads one chunk of each segment,
//     so these chunks are neighbours.
//   _wide: the row with the id r * 2^40 + p has position p: the words of segments
//     r * kSegmentsPerRow to (r + 1) * kSegmentsPerRow - 1 at that position, one after another.
//
// All chunks of a segment have a row, so a missing row is noticed.
//
// A SegmentStore caches nothing: each function reads the rows as the connection sees them at the
// time. Functions throw SqliteError if a statement fails, with the code SQLITE_CORRUPT_VTAB for
// values that are not valid and for missing rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "core/filter/bit_sliced.h"
#include "core/filter/filter.h"
#include "core/hashing/hash.h"
#include "core/operations/estimate_result.h"
#include "core/support/bytes.h"
#include "core/support/memory.h"
#include "sql/segments/segment_config.h"
#include "sql/sqlite/statement.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// Segments that a table may have: see the ids above.
inline constexpr unsigned kSegmentBits = 24;
inline constexpr std::uint64_t kMaxSegments = std::uint64_t{1} << kSegmentBits;

// Segments per row of _wide. Such a row is at most as large as a chunk.
inline constexpr std::uint64_t kSegmentsPerRow = kChunkBytes / sizeof(FilterSet);

// Returns the number of segments in row `row` of _wide, which has `wide` segments in total.
inline std::uint64_t segments_in_row(std::uint64_t wide, std::uint64_t row) {
  return std::min(kSegmentsPerRow, wide - row * kSegmentsPerRow);
}

// Segments first..end-1.
struct SegmentRange {
  std::uint64_t first;
  std::uint64_t end;
};

// The cells of the filter of a slot.
struct SlotCells {
  std::uint64_t slot;
  FilterCells cells;
};

// A key of the filter of a slot. `chunk` is that of the hash.
struct SlotKey {
  std::uint64_t chunk;
  std::uint64_t slot;
  Hash hash;
  std::uint64_t segment() const { return slot / kSegmentFilters; }
};
// Sorts keys by chunk and segment, which is the order of the rows in _data.
void sort_by_row(std::span<SlotKey> keys);

class SegmentWriter;

class SegmentStore {
 public:
  static constexpr ShadowTable kDataTable = {"data", "(id INTEGER PRIMARY KEY, chunk BLOB)", "id",
                                             "chunk"};
  static constexpr ShadowTable kWideTable = {"wide", "(id INTEGER PRIMARY KEY, words BLOB)", "id",
                                             "words"};

  // `tables` has kDataTable and kWideTable. `writes`: a counter that rises with every write;
  // add_segment() leaves that to its caller.
  // Requires: both outlive the store.
  SegmentStore(ShadowTables& tables, std::uint64_t& writes, unsigned family = 0)
      : tables_(tables), writes_(writes), first_id_(std::uint64_t{family} << kFamilyShift) {}
  SegmentStore(const SegmentStore&) = delete;
  SegmentStore& operator=(const SegmentStore&) = delete;

  // Calls f(segment, chunk) for chunk i of each segment in _data. Throws if there are more segments
  // than the config has.
  using EachChunk = std::function<void(std::uint64_t segment, const std::uint8_t* chunk)>;
  void for_each_data_chunk(const SegmentConfig& config, std::uint64_t i, const EachChunk& f);
  // Calls f(segment, chunk) for chunk i of the segments in `range`, wherever they are stored.
  void for_each_chunk_in(const SegmentConfig& config, SegmentRange range, std::uint64_t i,
                         const EachChunk& f);

  // The next functions leave it to the caller to update and save the config. Those that insert rows
  // require that the caller has a KeepLastRowid.
  //
  // Adds segment config.segments, whose bits are 0. Throws bloom::Error if there are kMaxSegments.
  void add_segment(const SegmentConfig& config);
  // Moves the segments config.wide_segments..live.size()-1 to _wide. live[s] are the filters of
  // segment s whose bits are kept. Rows of _wide that are full stay as they are.
  void widen(const SegmentConfig& config, std::span<const FilterSet> live);
  // Moves the filters in `live` together, in their order, to segments from 0 on, all in _data.
  // live[s] are the filters of segment s that are kept. Requires: live.size() is config.segments.
  void pack(const SegmentConfig& config, std::span<const FilterSet> live);
  // Removes the segments from `first` on. Requires: they are in _data.
  void drop_from(const SegmentConfig& config, std::uint64_t first);
  void clear();  // removes all segments of this store

  // Change and read the filter of one slot. add_filter() merges cells, which have the layout of
  // FilterView::cells(). clear_filter() requires that the segment is not in _wide.
  void add_filter(const SegmentConfig& config, std::uint64_t slot, const std::uint8_t* cells);
  void clear_filter(const SegmentConfig& config, std::uint64_t slot);
  // Stores filters in slots of one segment. If the segment is in _wide, the filters keep their old
  // keys as false positives: clearing them there is too expensive. Requires: the slots differ.
  void replace_filters(const SegmentConfig& config, std::span<const SlotCells> filters);
  Filter filter_of(const SegmentConfig& config, std::uint64_t slot);
  bool may_contain(const SegmentConfig& config, std::uint64_t slot, Hash hash);
  // Returns the estimates of all filters of the segments, in the order of their slots, as if they
  // also had the keys in `added`. Requires: these are sorted by row, and in these segments.
  CountedVector<Estimate> estimates(const SegmentConfig& config, SegmentRange range,
                                    std::span<const SlotKey> added = {});

  // Throws SqliteError(SQLITE_CORRUPT_VTAB) if a row is missing, superfluous or of another size.
  void check(const SegmentConfig& config);

 private:
  friend class SegmentWriter;
  friend class WideReader;

  // Calls f(chunk) for chunk i of `segment`. `chunk` is valid during the call. Requires: the
  // segment is in _data.
  void with_chunk(std::uint64_t i, std::uint64_t segment,
                  const std::function<void(const std::uint8_t*)>& f);
  void for_each_wide_chunk(const SegmentConfig& config, SegmentRange range, std::uint64_t i,
                           const EachChunk& f);
  static constexpr unsigned kFamilyShift = 60;
  void erase_family(const char* sql);  // runs a DELETE of the ids of this family
  std::uint64_t chunk_id(std::uint64_t i, std::uint64_t segment) const;
  std::uint64_t wide_id(std::uint64_t row, std::uint64_t p) const;
  const sqlite::Statement& select_data_chunks();
  void read_data_chunks(SegmentRange range, std::uint64_t i, const EachChunk& f);
  static void step_data_chunks(sqlite::Execution& run, SegmentRange range, std::uint64_t i,
                               const EachChunk& f);
  // Sets the cells of block i of the filter of a slot. `block` has the bytes of a FilterBlock.
  // Requires: the slot is in _wide.
  static void add_wide_block(SegmentWriter& writer, std::uint64_t slot, std::uint64_t i,
                             const std::uint8_t* block);
  void widen_row(const SegmentConfig& config, std::uint64_t row, SegmentRange range,
                 std::uint64_t i, std::span<const FilterSet> live);

  ShadowTables& tables_;
  std::uint64_t& writes_;
  std::uint64_t first_id_;
};

// Reads the words of the segments in _wide. The word of a segment at position p is the set of its
// filters whose cell p is set. Requires what RowReader requires. Throws as SegmentStore does.
class WideReader {
 public:
  WideReader(const SegmentStore& store, const SegmentConfig& config)
      : store_(store), config_(config), words_(store.tables_, "wide", "words") {}

  // Intersects found[i] with the word of segment i of row `row` at position p.
  void intersect(std::uint64_t row, std::uint64_t p, std::span<FilterSet> found);
  // Calls f(i, word) for the segments in `range`, which are all in one row. i counts from 0 on.
  template <typename F>
  void for_each_word(SegmentRange range, std::uint64_t p, F&& f) {
    const std::uint64_t row = range.first / kSegmentsPerRow;
    std::array<std::uint8_t, kChunkBytes> bytes;
    const auto count = static_cast<std::size_t>(range.end - range.first);
    const std::span words(bytes.data(), count * sizeof(FilterSet));
    read(row, p, range.first - row * kSegmentsPerRow, words);
    for (std::size_t i = 0; i < count; ++i) {
      f(i, load_le<FilterSet>(words.data() + i * sizeof(FilterSet)));
    }
  }

 private:
  // Reads words at position p from row `row`: those of its segments `first`, first + 1, ...,
  // counted from 0 in the row.
  void read(std::uint64_t row, std::uint64_t p, std::uint64_t first, std::span<std::uint8_t> words);

  const SegmentStore& store_;
  const SegmentConfig& config_;
  RowReader words_;
};

// Overwrites existing rows. Requires what RowWriter requires.
class SegmentWriter {
 public:
  SegmentWriter(SegmentStore& store, const SegmentConfig& config)
      : store_(store),
        config_(config),
        chunk_(store.tables_, "data", "chunk"),
        words_(store.tables_, "wide", "words") {}

  // Calls change(chunk) and stores the result. Requires: the segment is not in _wide.
  void change_chunk(std::uint64_t i, std::uint64_t segment,
                    const std::function<void(std::uint8_t*)>& change);
  // Sets cell p of the filter of a slot. Requires: the slot is in _wide.
  void set_wide_bit(std::uint64_t slot, std::uint64_t p);

 private:
  void open(RowWriter& row, std::uint64_t id, std::size_t size);

  SegmentStore& store_;
  const SegmentConfig& config_;
  RowWriter chunk_;
  RowWriter words_;
};

}  // namespace bloom
