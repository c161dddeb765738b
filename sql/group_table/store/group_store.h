// The shadow tables of a bloom_groups table, and the SQL that reads and writes them.
//
// <name>_config(k PRIMARY KEY, v) WITHOUT ROWID         one row per value: see GroupConfig
// <name>_members(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)
// <name>_rowlog: keys that are not in the segments yet, see group_log.h
// <name>_data and <name>_wide: the segments, see sql/segments/segment_store.h
//
// The filter of a member is bit slot % 64 of segment slot / 64 (core/filter/bit_sliced.h). A slot
// whose member is NULL is free. Its bits are 0 if `cleared` is 1, and may be set otherwise.
//
// A GroupStore returns nothing that is out of date: each function reads the rows as the connection
// sees them at the time. Functions throw SqliteError if a statement fails, with the code
// SQLITE_CORRUPT_VTAB for values that are not valid and for missing rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/memory.h"
#include "sql/group_table/store/group_config.h"
#include "sql/group_table/store/group_log.h"
#include "sql/segments/segment_store.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

class GroupStore {
 public:
  GroupStore(sqlite3* db, std::string schema, std::string table);

  ShadowTables& tables() { return tables_; }
  const ShadowTables& tables() const { return tables_; }
  SegmentStore& segments() { return segments_; }
  static bool is_shadow(std::string_view suffix);

  void create(const GroupConfig& config);

  GroupConfig load_config();
  // Returns GroupConfig::guard_index, even if the rest of the config is damaged.
  std::string load_guard() { return tables_.text_in_config("guard"); }
  void save_config(const GroupConfig& config);
  void save_version(const GroupConfig& config);  // GroupConfig::row_log_has_rows

  GroupLog& log() { return log_; }
  // Returns the log as it is now.
  const GroupLog& read_log(const GroupConfig& config) {
    log_.read(config);
    return log_;
  }
  // Returns the keys of the log in these segments.
  CountedVector<SlotKey> logged_keys(const GroupConfig& config, SegmentRange range);
  // As SegmentStore::estimates(), with the keys of the log.
  CountedVector<Estimate> estimates(const GroupConfig& config, SegmentRange range);

  // Members. They are compared as SQLite compares values under the collation BINARY.
  std::optional<std::uint64_t> slot_of(const GroupConfig& config, const sqlite::Value& member);
  // Returns the slots of all members that SQLite may compare as equal to the value: the text '1'
  // equals the number 1 in a comparison with a column of numeric affinity. Does not find other
  // forms of numbers, such as '01'. May also return slots of members that are not equal.
  CountedVector<std::uint64_t> slots_equal_to(const GroupConfig& config,
                                              const sqlite::Value& value);
  // Adds a member in a free slot outside of _wide. Adds a segment if there is no such slot;
  // `config` is then updated and saved. Returns the slot.
  std::uint64_t add_member(const sqlite::Value& member, GroupConfig& config);
  void rename_member(std::uint64_t slot, const sqlite::Value& member);
  // Removes the member of a slot, and clears its bits if that is cheap.
  void remove_member(const GroupConfig& config, std::uint64_t slot);
  // Calls f(member) with the member of the slot. Returns false if the slot is free.
  bool with_member(std::uint64_t slot, const std::function<void(const sqlite::Value&)>& f);
  bool has_member(std::uint64_t slot) {
    return with_member(slot, [](const sqlite::Value&) {});
  }
  // Throws if the slot has no row.
  void require_row(std::uint64_t slot);
  // Returns the slots with a member, in ascending order.
  CountedVector<std::uint64_t> used_slots(const GroupConfig& config);
  bool has_free_slot_below(std::uint64_t end);

  // These update and save `config`.
  //
  // Moves the segments up to `end` to _wide.
  void widen(GroupConfig& config, std::uint64_t end);
  // Gives the members the slots from 0 on, in their order, and moves all segments to _data.
  void pack(GroupConfig& config);
  // Removes the segments from `first` on. Requires: they have no members, and are in _data.
  void drop_segments(GroupConfig& config, std::uint64_t first);

  std::uint64_t member_count();
  // Return the slot after the last one, and the slot after the last one that has a member.
  std::uint64_t end_of_slots(const GroupConfig& config);
  std::uint64_t end_of_members(const GroupConfig& config);

  // Removes all members, segments and logged keys. Updates and saves `config`.
  void clear(GroupConfig& config);

  // Throws SqliteError(SQLITE_CORRUPT_VTAB) if a row is missing, superfluous or damaged.
  void check(const GroupConfig& config);

  // Returns a counter that rises with every write.
  const std::uint64_t& writes() const { return writes_; }

 private:
  // Removes the member of a slot. `cleared`: the bits of the slot are 0.
  void free_slot(std::uint64_t slot, bool cleared);
  std::optional<std::uint64_t> take_free_slot(const GroupConfig& config,
                                              const sqlite::Value& member);
  CountedVector<FilterSet> live_filters(const GroupConfig& config);  // of each segment

  sqlite3* db_;
  ShadowTables tables_;
  std::uint64_t writes_ = 0;
  GroupLog log_;
  SegmentStore segments_;
};

}  // namespace bloom
