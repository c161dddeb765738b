// Keeps the members of a bloom_groups table in sync with its source: CREATE VIRTUAL TABLE who USING
// bloom_groups(source=visits, member=day, column=visitor). A row of the source adds its key to its
// member. A row with NULL in one of these columns counts for nothing.
//
// Triggers in plain SQL append the changes to the change log (sql/source/change_log.h), and lookups
// find the members of pending keys there. 'merge' moves them into the filters.
//
// No member that has a key is missing from a lookup:
// - Only a command removes a member. It reads the source while no statement writes to it, and finds
//   no row of the member, or, in 'rebuild', adds the member again from its rows. Changes that
//   are recorded after the command has begun stay in the change log, because the command deletes
//   only the rows that the log had at its beginning.
// - Keys may be missing if the triggers have missed a change, or an UPDATE was announced and is not
//   finished. If a change was missed, a lookup is refused, or with on_stale=maybe returns all
//   members of the table and the source. If an UPDATE was announced, it returns these and all
//   members of the change log.
// - A lookup reads the change log first, then the filters: keys move from the one to the others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/group_table/follow/group_change_log.h"
#include "sql/group_table/group_options.h"
#include "sql/group_table/group_writer.h"
#include "sql/group_table/store/group_store.h"
#include "sql/source/source_comparison.h"
#include "sql/source/source_link.h"
#include "sql/sqlite/value.h"
#include "sql/values/key.h"

namespace bloom {

class GroupSourceFollower {
 public:
  // `names`: the source and its columns, that of the members first. Requires: `store` and `writer`
  // outlive this object.
  GroupSourceFollower(sqlite3* db, GroupStore& store, GroupWriter& writer,
                      const SourceNames& names);
  GroupSourceFollower(const GroupSourceFollower&) = delete;
  GroupSourceFollower& operator=(const GroupSourceFollower&) = delete;

  const std::string& source() const { return source_.names().table; }
  const std::string& member_column() const { return source_.names().columns.front(); }
  std::vector<std::string> key_columns() const;
  bool is_composite() const { return source_.names().columns.size() > 2; }
  // Return the collation of the key, binary for several columns, which have their own; and the
  // collation of the members, which only SQLite uses.
  Collation collation() const { return is_composite() ? Collation::binary : source_.collation(1); }
  Collation member_collation() const { return link_.declared().rules(0).collation; }
  // Return the types to declare for the columns `key` and `member`.
  const char* type_of_key() const { return is_composite() ? "" : comparison_->declared_type(); }
  const char* type_of_member() const {
    return bloom::type_to_declare(link_.declared().rules(0).affinity);
  }

  // CREATE, DROP and RENAME of the bloom_groups table. create() and drop() also make and drop the
  // tables of the store. create() throws bloom::Error if the source cannot be followed.
  void create(const GroupOptions& options);
  void drop();
  void rename(const char* name);

  // The commands. `is_only_writer`: see TransactionState. All are undone by the caller if they
  // fail. rebuild() takes over the collation of the key now, unless the options name one.
  // rebuild_member() reads the rows of the members that SQLite may call equal to `member`.
  void merge(bool is_only_writer);
  void rebuild(GroupOptions options, bool is_only_writer);
  void rebuild_member(const sqlite::Value& member, bool is_only_writer);
  // Reads the whole source. Throws SqliteError(SQLITE_CORRUPT_VTAB) if a key is missing from its
  // member, or if triggers, guard index or change log are not as they were made. Does not look for
  // missing keys while an UPDATE is announced: any key may be missing then.
  void check();

  // Call when a statement is prepared, and before a command: see SchemaCheck.
  void schema_may_have_changed() { link_.schema_may_have_changed(); }
  // Throws bloom::Error if out_of_sync() finds a problem.
  void require_in_sync(const GroupConfig& config);
  // Returns why a change of the source may not have been recorded, and what to do; nullopt if all
  // were recorded.
  std::optional<std::string> out_of_sync(const GroupConfig& config);

  // Throws bloom::Error if nothing can be looked up, not even with on_stale=maybe: see SourceLink.
  void require_same_columns() const;

  // Reads what is new in the change log, and returns it.
  GroupChangeLog& read_change_log(const GroupConfig& config);
  std::uint64_t pending() const { return change_log_.count(); }
  // Calls f(member) for each member of the source. Returns false if the guard index is missing or
  // has changed: it is then not certain which table is the source.
  bool for_each_source_member(const GroupConfig& config,
                              const std::function<void(const sqlite::Value&)>& f) const;

  // Returns the hashes to look up for a value: those of all keys that SQLite may call equal to it.
  // Requires: `converted` is a copy of the value. Converts that copy to what the column `key`
  // returns. If this makes a number of a text, the first hash is that of the number. Throws
  // bloom::Error if the keys have several columns, and `value` is not such a key.
  std::vector<Hash> hashes_of(const Key& key, const sqlite::Value& value, const GroupConfig& config,
                              sqlite::ReusableValue& converted);

 private:
  static LinkedObjects objects_of(const GroupConfig& config);
  static KeyForm form_of(const GroupConfig& config) { return {config.header.shape, config.parts}; }
  void require_supported(Collation collation) const;
  GroupConfig new_config(const GroupOptions& options, const LinkedObjects& made) const;
  std::uint64_t count_keys_of_largest_member() const;
  std::string keys_not_null_sql() const;
  std::string select_rows(const std::string& condition) const;

  void add_row(const sqlite::Execution& row, int first, const KeyForm& form);
  void add_rows(const std::string& condition, const sqlite::Value* member);
  void add_pending_rows(std::int64_t last);
  // Returns the members of removed rows that have no row any more.
  std::vector<sqlite::OwnedValue> members_without_rows(std::int64_t last) const;

  sqlite3* db_;
  GroupStore& store_;
  GroupWriter& writer_;
  SourceLink link_;
  Source& source_;  // of link_
  GroupChangeLog change_log_;
  std::optional<SourceComparison> comparison_;  // of the key, if it has one column
};

}  // namespace bloom
