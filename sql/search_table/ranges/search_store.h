// The shadow tables of a bloom_search table, and the SQL that reads and writes them.
//
// <name>_config(k PRIMARY KEY, v) WITHOUT ROWID         one row per value: see SearchConfig
// <name>_ranges(id INTEGER PRIMARY KEY, first, last)    the rowids of each filter
// <name>_data and <name>_wide: the segments, see sql/segments/segment_store.h. _data also has the
// filter over the whole table, see table_filter/table_filter_store.h
//
// A range has one filter: that of a slot of its family. The id of its row is the slot, plus 2^60
// for the family `grams`. The ranges of a family do not overlap. Every covered row is in one of
// them, or noted by the triggers, or both.
//
// A SearchStore caches nothing, and throws as SegmentStore does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/memory.h"
#include "sql/search_table/search_source.h"
#include "sql/search_table/table_filter/table_filter_store.h"
#include "sql/segments/segment_store.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// The keys of a family share filters. Values and words have 12 bits per key, and grams 5, because a
// pattern has many of them.
enum class Family : unsigned { values_and_words = 0, grams = 1 };
inline constexpr Family kFamilies[] = {Family::values_and_words, Family::grams};

struct FamilyConfig : SegmentConfig {
  std::uint64_t ranges = 0;
  bool is_used() const { return header.shape.cells != 0; }
};

struct SearchConfig {
  std::array<FamilyConfig, 2> families;
  std::optional<std::int64_t> covered;  // the last rowid that the ranges cover
  // For the costs of plans: the most rows that one command has read since the last 'rebuild'.
  std::uint64_t most_rows_read = 0;
  TableFilterConfig table_filter;
  std::string guard;

  FamilyConfig& of(Family f) { return families[static_cast<std::size_t>(f)]; }
  const FamilyConfig& of(Family f) const { return families[static_cast<std::size_t>(f)]; }
};

// A range and the slot of its filter.
struct StoredRange {
  std::uint64_t slot;
  RowidRange rows;
};

class SearchStore {
 public:
  SearchStore(sqlite3* db, std::string schema, std::string table);

  ShadowTables& tables() { return tables_; }
  SegmentStore& segments(Family f) { return segments_[static_cast<std::size_t>(f)]; }
  TableFilterStore& table_filter() { return table_filter_; }
  static bool is_shadow(std::string_view suffix);

  void create(const SearchConfig& config);
  SearchConfig load_config();
  void save_config(const SearchConfig& config);
  // Returns SearchConfig::guard, even if the rest of the config is damaged.
  std::string load_guard() const { return tables_.text_in_config("guard"); }

  // Returns the ranges in the order of their rows.
  CountedVector<StoredRange> ranges(Family f);
  // Calls use(range) for each of these slots of segment `segment` that has a range.
  void for_each_range(Family f, std::uint64_t segment, FilterSet slots,
                      const std::function<void(RowidRange)>& use);
  // Looks for slots without a range in the segments that are in _data. Returns at most 65,536, the
  // first ones.
  CountedVector<std::uint64_t> free_slots(Family f, const FamilyConfig& config);
  void put_range(Family f, const StoredRange& range);
  void remove_range(Family f, std::uint64_t slot);
  void clear(Family f, FamilyConfig& config);
  // Moves all segments to _wide.
  void widen(Family f, FamilyConfig& config);

  // Throws SqliteError(SQLITE_CORRUPT_VTAB).
  void check(const SearchConfig& config);

 private:
  sqlite3* db_;
  ShadowTables tables_;
  std::uint64_t writes_ = 0;
  std::array<SegmentStore, 2> segments_;
  TableFilterStore table_filter_;
};

}  // namespace bloom
