// The shadow tables of a bloom_groups table, and the SQL that reads and writes them.
//
// <name>_config(k PRIMARY KEY, v) WITHOUT ROWID         one row per value: see GroupConfig
// <name>_members: see group_members.h
// <name>_rowlog: keys that are not in the segments yet, see group_row_log.h
// <name>_data and <name>_wide: the segments, see sql/segments/segment_store.h
//
// A GroupStore returns nothing that is out of date: each function returns the rows as the
// connection sees them at the time. Functions throw SqliteError if a statement fails, with the code
// SQLITE_CORRUPT_VTAB for values that are not valid and for missing rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/memory.h"
#include "sql/group_table/store/group_config.h"
#include "sql/group_table/store/group_members.h"
#include "sql/group_table/store/group_row_log.h"
#include "sql/segments/segment_store.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/database.h"
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
  // As load_config(), but reads it only if it may have changed since the last call. Reading it
  // takes a third of the time of a lookup in a few members.
  const GroupConfig& config_for_lookup();
  // Call when a statement is prepared.
  void statement_was_prepared() { database_.read_uncommitted().statement_was_prepared(); }
  // Returns GroupConfig::guard_index, even if the rest of the config is damaged.
  std::string load_guard() { return tables_.text_in_config("guard"); }
  void save_config(const GroupConfig& config);
  // Saves the version, which tells older programs whether the row log has rows.
  void save_version(const GroupConfig& config);

  GroupRowLog& row_log() { return row_log_; }
  bool is_merge_refused() { return row_log_.is_merge_refused("UPDATE {config} SET v = 1"); }
  // Returns the row log as it is now.
  const GroupRowLog& read_row_log(const GroupConfig& config) {
    row_log_.read(config);
    return row_log_;
  }
  // Returns the keys of the row log in these segments.
  CountedVector<SlotKey> row_log_keys(const GroupConfig& config, SegmentRange range);
  // As SegmentStore::estimates(), with the keys of the row log.
  CountedVector<Estimate> estimates(const GroupConfig& config, SegmentRange range);

  GroupMembers& members() { return members_; }
  // Gives a member a cleared free slot outside of _wide, else the slot after the last one. If that
  // needs a new segment, updates and saves `config`. Returns the slot.
  std::uint64_t add_member(const sqlite::Value& member, GroupConfig& config);
  // Removes the member of a slot, and clears its bits if that is cheap.
  void remove_member(const GroupConfig& config, std::uint64_t slot);

  // These update and save `config`.
  //
  // Moves the segments config.wide_segments to end - 1 to _wide.
  void widen(GroupConfig& config, std::uint64_t end);
  // Gives the members the slots from 0 on, in their order, and moves all segments to _data.
  void pack(GroupConfig& config);
  // Removes the segments from `first` on. Requires: they have no members, and are in _data.
  void drop_segments(GroupConfig& config, std::uint64_t first);

  // Removes all members, segments and keys of the row log. Updates and saves `config`.
  void clear(GroupConfig& config);

  // Throws SqliteError(SQLITE_CORRUPT_VTAB) if a row is missing, superfluous or damaged.
  void check(const GroupConfig& config);

  // Returns a counter that rises with every write.
  const std::uint64_t& writes() const { return writes_; }

 private:
  sqlite3* db_;
  sqlite::Database database_;
  ShadowTables tables_;
  std::uint64_t writes_ = 0;
  GroupMembers members_;
  GroupRowLog row_log_;
  SegmentStore segments_;
  std::optional<unsigned> known_version_;  // Database::version_of_settled_rows() then
  GroupConfig known_config_;               // as it was read last
};

}  // namespace bloom
