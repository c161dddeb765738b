// The shadow tables of a bloom_groups table, and the SQL that reads and writes them.
//
// <name>_config(k PRIMARY KEY, v) WITHOUT ROWID         one row per value: see GroupConfig
// <name>_members(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)
// <name>_data(id INTEGER PRIMARY KEY, chunk BLOB)       the segments
// <name>_wide(id INTEGER PRIMARY KEY, words BLOB)       the segments that 'optimize' has merged
//
// The filter of a member is bit slot % 64 of segment slot / 64 (core/filter/bit_sliced.h). A slot
// whose member is NULL is free. Its bits are 0 if `cleared` is 1, and may be set otherwise.
//
// The first GroupConfig::wide segments are in _wide, the others in _data.
//   _data: chunk c of segment s has the id c * 2^24 + s. A lookup reads one chunk of each segment,
//     so these chunks are neighbours.
//   _wide: the row with the id r * 2^40 + p has position p: the words of segments
//     r * kSegmentsPerRow to (r + 1) * kSegmentsPerRow - 1 at that position, one after another.
//
// All chunks of a segment have a row, so a missing row is noticed.
//
// A GroupStore caches nothing: each function reads the rows as the connection sees them at the
// time. Functions throw SqliteError if a statement fails, with the code SQLITE_CORRUPT_VTAB for
// values that are not valid and for missing rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/bit_sliced.h"
#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "core/operations/estimate.h"
#include "core/support/bytes.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/table/shadow_tables.h"

namespace bloom {

struct GroupConfig {
  Header header;               // of the filter of each member
  std::uint64_t segments = 0;  // all segments
  std::uint64_t wide = 0;      // segments that are in _wide
  // The following two are used if the members are ranges of rows (sql/table/row_ranges.h).
  std::optional<std::int64_t> summarized = {};  // last rowid of the last range, if there is a range
  std::string guard_index = {};                 // name of the guard index on the source

  std::uint64_t chunks_per_segment() const { return header.shape.blocks(); }
};

// A member as it is bound to an SQL statement: a value, which must outlive the Member, or an
// integer.
class Member {
 public:
  Member(const sqlite::Value& value) : value_(&value) {}
  Member(std::int64_t integer) : integer_(integer) {}

  void bind_to(sqlite::Execution& run, int parameter) const {
    value_ == nullptr ? run.bind(parameter, integer_) : run.bind(parameter, *value_);
  }

 private:
  const sqlite::Value* value_ = nullptr;
  std::int64_t integer_ = 0;
};

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

class GroupWriter;

class GroupStore {
 public:
  GroupStore(sqlite3* db, std::string schema, std::string table);

  const std::string& schema() const { return tables_.schema(); }
  const std::string& table() const { return tables_.table(); }
  static bool is_shadow(std::string_view suffix);

  void create(const GroupConfig& config);
  void drop() { tables_.drop(); }
  void rename(const std::string& table) { tables_.rename(table); }

  GroupConfig load_config();
  // Returns GroupConfig::guard_index, even if the rest of the config is damaged.
  std::string load_guard();
  void save_config(const GroupConfig& config);

  // Members. They are compared as SQLite compares values under the collation BINARY.
  std::optional<std::uint64_t> slot_of(const GroupConfig& config, const Member& member);
  // Returns the slots of all members that SQLite may compare as equal to the value: the text '1'
  // equals the number 1 in a comparison with a column of numeric affinity. Does not find other
  // forms of numbers, such as '01'. May also return slots of members that are not equal.
  std::vector<std::uint64_t> slots_equal_to(const GroupConfig& config, const sqlite::Value& value);
  // Adds a member in a free slot whose bits are 0. Adds a segment if there is no such slot;
  // `config` is then updated and saved. Returns the slot.
  std::uint64_t add_member(const Member& member, GroupConfig& config);
  void rename_member(std::uint64_t slot, const Member& member);
  // Removes the member of a slot. `cleared`: the bits of the slot are 0.
  void free_slot(std::uint64_t slot, bool cleared);
  void set_cleared();  // marks all free slots as cleared
  // Calls f(member) with the member of the slot. Returns false if the slot is free.
  bool with_member(std::uint64_t slot, const std::function<void(const sqlite::Value&)>& f);
  bool has_member(std::uint64_t slot) {
    return with_member(slot, [](const sqlite::Value&) {});
  }
  // Throws if the slot has no row, unless 'clear' has removed its segment.
  void require_row(std::uint64_t slot);
  // Return slots in ascending order: those with a member, and the free ones below `end`.
  std::vector<std::uint64_t> used_slots(const GroupConfig& config);
  std::vector<std::uint64_t> free_slots_below(std::uint64_t end);

  // Calls f(segment, chunk) for chunk i of each segment in _data. Throws if there are more segments
  // than the config has.
  using EachChunk = std::function<void(std::uint64_t segment, const std::uint8_t* chunk)>;
  void for_each_data_chunk(const GroupConfig& config, std::uint64_t i, const EachChunk& f);
  // Calls f(chunk) for chunk i of `segment`. `chunk` is valid during the call. Requires: the
  // segment is in _data.
  void with_chunk(std::uint64_t i, std::uint64_t segment,
                  const std::function<void(const std::uint8_t*)>& f);

  // Calls f(segment, chunk) for chunk i of the segments in `range`, wherever they are stored.
  void for_each_chunk_in(const GroupConfig& config, SegmentRange range, std::uint64_t i,
                         const EachChunk& f);
  // Moves the segments 0..end-1 to _wide, and clears the bits of free slots there. Updates and
  // saves `config`.
  void widen(GroupConfig& config, std::uint64_t end);

  // Return the number of members, and the number of segments whose 64 slots have all been used.
  std::uint64_t member_count();
  std::uint64_t full_segments(const GroupConfig& config);

  // Change and read the filter of one slot. add_filter() merges cells, which have the layout of
  // FilterView::cells(). clear_filter() requires that the segment is not in _wide.
  void add_filter(const GroupConfig& config, std::uint64_t slot, const std::uint8_t* cells);
  void clear_filter(const GroupConfig& config, std::uint64_t slot);
  // Stores filters in slots of one segment. If the segment is in _wide, the filters keep their old
  // keys as false positives: clearing them there is too expensive. Requires: the slots differ.
  void replace_filters(const GroupConfig& config, std::span<const SlotCells> filters);
  Filter filter_of(const GroupConfig& config, std::uint64_t slot);
  // Returns the estimates of all filters of the segments, in the order of their slots.
  std::vector<Estimate> estimates(const GroupConfig& config, SegmentRange range);
  // Removes all members and segments.
  void clear();

  // Throws SqliteError(SQLITE_CORRUPT_VTAB) if a row is missing, superfluous or damaged.
  void check(const GroupConfig& config);

  // Returns a counter that rises with every write.
  const std::uint64_t& writes() const { return writes_; }

 private:
  friend class GroupWriter;
  friend class WideReader;

  void for_each_wide_chunk(const GroupConfig& config, SegmentRange range, std::uint64_t i,
                           const EachChunk& f);
  const sqlite::Statement& data_chunks();
  void read_data_chunks(SegmentRange range, std::uint64_t i, const EachChunk& f);
  static void step_data_chunks(sqlite::Execution& run, SegmentRange range, std::uint64_t i,
                               const EachChunk& f);
  // Sets the cells of block i of the filter of a slot. `block` has the bytes of a FilterBlock.
  // Requires: the slot is in _wide.
  static void add_wide_block(GroupWriter& writer, std::uint64_t slot, std::uint64_t i,
                             const std::uint8_t* block);
  std::optional<std::uint64_t> take_free_slot(const GroupConfig& config, const Member& member);
  void add_segment(GroupConfig& config);
  void widen_row(const GroupConfig& config, std::uint64_t row, SegmentRange range, std::uint64_t i,
                 std::span<const FilterSet> live);

  sqlite3* db_;
  ShadowTables tables_;
  std::uint64_t writes_ = 0;
};

// Reads the words of the segments in _wide. The word of a segment at position p is the set of its
// filters whose cell p is set. Requires what RowReader requires. Throws as GroupStore does.
class WideReader {
 public:
  WideReader(const GroupStore& store, const GroupConfig& config)
      : config_(config), words_(store.tables_, "wide", "words") {}

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

  const GroupConfig& config_;
  RowReader words_;
};

// Overwrites existing rows. Requires what RowWriter requires.
class GroupWriter {
 public:
  GroupWriter(GroupStore& store, const GroupConfig& config)
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

  GroupStore& store_;
  const GroupConfig& config_;
  RowWriter chunk_;
  RowWriter words_;
};

}  // namespace bloom
