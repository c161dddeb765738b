// The virtual table of CREATE VIRTUAL TABLE ... USING bloom_groups(...): a Bloom filter for each of
// many members, and lookups that check all of them at once. docs/groups.md is its reference. What
// SQL does with it:
//
// CREATE VIRTUAL TABLE who USING bloom_groups(capacity=5000, fpr=0.0001);
//     Each member gets a filter for 5,000 keys.
//
// INSERT INTO who(member, key) VALUES ('north', 'a.example'), ('south', 'b.example');
//     Adds one key to the filter of each member. The first key of a member creates the member.
// INSERT INTO who(member, filter) SELECT 'east', filter FROM who WHERE member = 'north';
//     Merges the keys of a compatible filter into that of a member.
// UPDATE who SET member = 'west' WHERE member = 'south';
//     Renames a member. DELETE removes one with its keys.
//
// SELECT member FROM who WHERE key = 'a.example';
//     Returns the members whose filters may contain the key: all that have it, and false positives.
// SELECT 1 FROM who WHERE member = 'south' AND key = 'a.example';
//     Looks up the key in one filter. Returns one row, or none if the key is certainly absent.
// SELECT member, filter, keys, fpr, overfull FROM who;
//     Lists the members with their filters and the properties of these.
//
// INSERT INTO who(who) VALUES ('optimize');
//     A value in the column named like the table is a command. The commands are:
//     'optimize'         rearranges the filters of many members, so that lookups read fewer pages
//     'clear'            removes all members
//     'integrity-check'  reads all rows and fails with SQLITE_CORRUPT_VTAB if one is missing,
//                        superfluous or of another size; with a source, also if a key of it is
//                        missing, or what follows it is not as it was made
//
// CREATE VIRTUAL TABLE who USING bloom_groups(source=visits, member=day, column=visitor);
//     Follows `visits`: each row adds the key `visitor` to the member `day`. Such a table has two
//     more commands, 'merge' and 'rebuild' (sql/group_table/follow/group_source_follower.h).
//
// A GroupTable caches no filters: each lookup reads their rows from SQLite's pages. Only keys that
// the running statement adds may be deferred in memory. They are written when the statement ends,
// and before every lookup. A lookup writes nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/operations/estimate_result.h"
#include "core/support/memory.h"
#include "sql/group_table/follow/group_source_follower.h"
#include "sql/group_table/group_columns.h"
#include "sql/group_table/group_options.h"
#include "sql/group_table/group_plan.h"
#include "sql/group_table/group_writer.h"
#include "sql/group_table/store/group_store.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/module.h"
#include "sql/sqlite/value.h"
#include "sql/values/key.h"
#include "sql/vtab/columns.h"
#include "sql/vtab/commands.h"
#include "sql/vtab/list_collations.h"
#include "sql/vtab/transaction_state.h"

namespace bloom {

using sqlite::Value;
using sqlite::Values;

class GroupTable {
 public:
  static constexpr char kModule[] = "bloom_groups";

  // What the tables of one connection share.
  struct Shared {
    std::vector<GroupTable*> tables;
    // Rises whenever a statement of the connection may have taken slots from their members.
    std::uint64_t removals = 0;
    int cursors = 0;  // open ones: each belongs to a statement that is running
    // Writes the deferred keys of all tables.
    void write_deferred_keys();
  };

  class Cursor;

  GroupTable(const sqlite::Definition& definition, Shared& shared);
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;
  ~GroupTable();

  void create();
  void connect();
  void destroy();
  void rename(const char* name);
  static bool is_shadow(std::string_view suffix) noexcept { return GroupStore::is_shadow(suffix); }

  sqlite3* db() const noexcept { return db_; }
  const char* name() const noexcept { return store_.tables().table().c_str(); }
  const char* columns() const { return columns_.c_str(); }

  int best_index(sqlite3_index_info& info);
  int update(const Values& values);
  int code_to_report(int code) noexcept { return transaction_.code_to_report(code); }

  // The calls of SQLite.
  void begin();
  // An object that does not know the table's name leaves the row log to another object, or to the
  // next transaction.
  void sync() { transaction_.may_have_old_name() ? write_deferred_keys() : writer_.sync(); }
  void committed();
  void rolled_back();
  void savepoint(int number);
  void released(int number);
  void rolled_back_to(int number);
  void check_integrity();

 private:
  class Change;

  // Calls f(), which writes several rows, within a Change.
  void change(const std::function<void()>& f);
  int insert(const Values& columns);
  int insert_key(const Value& member, const Value& key);
  void insert_filter(const Value& member, const Value& filter);
  void rename_member(const Value& row, const Values& columns);
  void remove_member(const Value& row);
  void run_command(const Value& command, const Value& member);
  void refuse_if_following(std::string_view change) const;
  void run_on_follower(
      const std::function<void(GroupSourceFollower&, bool is_only_writer)>& command);
  void clear();
  void optimize();

  void require_usable();
  // Writes the deferred keys of all tables, and the row log of this one. For statements that write.
  void write_all_keys();
  bool is_same_table(const GroupTable& other) const {
    return store_.tables().has_name(other.store_.tables().schema(), other.name());
  }
  // Makes other objects of this name check their name from now on.
  void watch_others();
  static std::uint64_t slot_of_row(const Value& row, std::string_view change);
  void write_deferred_keys() { writer_.write_deferred(); }

  static const Command<GroupTable> kCommands[];

  sqlite3* db_;
  Shared& shared_;
  std::string columns_;
  GroupOptions options_;
  GroupStore store_;
  TransactionState transaction_;
  GroupWriter writer_;
  std::optional<GroupSourceFollower> follower_;  // if the table has a source
  ListCollations list_collations_;
  sqlite::CachedEncoding encoding_;
  int changes_in_progress_ = 0;  // see Change
};

class GroupTable::Cursor {
 public:
  explicit Cursor(GroupTable& table) : table_(table) { ++table_.shared_.cursors; }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { --table_.shared_.cursors; }

  using Hidden = HiddenColumn<GroupColumn, Cursor>;
  static std::span<const Hidden> hidden_columns();

  void start(int plan, const char* idx_string, const Values& values);
  void next();
  bool at_end() const noexcept { return row_ >= slots_.size() + members_.size(); }
  void column(sqlite3_context* raw, int i);

 private:
  // Return the slots of the members that may contain the key: all such members, or those that equal
  // `member`. With `slots`: append them.
  CountedVector<std::uint64_t> look_up(const Value& key);
  CountedVector<std::uint64_t> look_up_member(const Value& key, const Value& member);
  void look_up(Hash hash, CountedVector<std::uint64_t>& slots);
  void look_up_in_wide(Hash hash, CountedVector<std::uint64_t>& slots);
  static void append_slots(std::uint64_t segment, FilterSet filters,
                           CountedVector<std::uint64_t>& slots);
  // In a table with a source: sets members_ to the members to return (follow/follow_cursor.cc).
  // Members of which the change log has keys may have no slot.
  void find_members(const Values& values);
  CountedVector<std::uint64_t> find_slots(const std::vector<Hash>& hashes, const Value* member);
  void require_collation() const;
  void require_collation_of_lists();
  bool follows() const { return table_.follower_.has_value(); }
  Value member() const { return Value(members_[row_].get()); }
  void return_filter_with_change_log(sqlite::Context& context);
  // Returns the slot of the current member; nullopt if it has none any more, or none yet.
  std::optional<std::uint64_t> slot();
  // Returns the estimate for the filter of the current member. Returns null if it has no slot.
  const Estimate* estimate();
  // Returns whether other statements may have removed members since they were found.
  bool may_be_out_of_date() const { return removals_ != table_.shared_.removals; }
  void return_member(sqlite3_context* raw);
  void return_row_identity(sqlite3_context* raw);
  void return_filter_of_member(sqlite::Context& context);
  void return_info(sqlite::Context& context);

  static const Hidden kHidden[];
  GroupTable& table_;
  GroupPlan plan_ = GroupPlan::all_members;
  bool lists_are_checked_ = false;
  GroupConfig config_;
  CountedVector<std::uint64_t> slots_;  // of the members found
  // In a table with a source, these instead of the slots: a member can move to another slot.
  std::vector<sqlite::OwnedValue> members_;
  std::size_t row_ = 0;
  std::uint64_t removals_ = 0;  // Shared::removals when the members were found
  WriteHistory::Moment opened_;
  // The value that was looked up, as the column of a source would store it: SQLite may use this
  // column in place of the other side of a join condition.
  sqlite::ReusableValue key_;
  Hash hash_{};  // of key_
  // The estimates of the filters in some segments, read when a column needs them.
  CountedVector<Estimate> estimates_;
  std::uint64_t first_estimated_ = 0;  // slot of estimates_[0]
};

}  // namespace bloom
