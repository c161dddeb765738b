#include "sql/group_table/group_table.h"

#include <algorithm>

#include "core/operations/merge.h"
#include "core/support/ascii.h"
#include "core/support/error.h"
#include "sql/group_table/group_module.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/interrupts.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/arguments.h"
#include "sql/vtab/damage.h"
#include "sql/vtab/incoming_filter.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

[[noreturn]] void refuse_null_member() {
  throw SqliteError(SQLITE_CONSTRAINT_NOTNULL, "member must not be NULL");
}

[[noreturn]] void refuse_command_with_value() {
  fail("one row cannot have a command and a member, key or filter (INSERT several rows)");
}

}  // namespace

// The scope of a change that writes several rows. If the scope ends without done(), the rows are
// undone.
//
// SQLite may open savepoints for the statements that write the rows, and report them to the table.
// Such a savepoint does not end the user's statement, so the table ignores it.
class GroupTable::Change {
 public:
  explicit Change(GroupTable& table)
      : table_(table), progress_(table.transaction_, table.store_.writes()) {
    ++table.changes_in_progress_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    --table_.changes_in_progress_;
    if (done_) {
      return;
    }
    table_.writer_.forget_rows();
    if (progress_.has_written() && !progress_.is_undone() && !progress_.is_undone_on_failure()) {
      table_.transaction_.roll_back();
    }
  }
  void done() { done_ = true; }

 private:
  GroupTable& table_;
  ChangeProgress progress_;
  bool done_ = false;
};

void GroupTable::change(const std::function<void()>& f) {
  Change change(*this);
  f();
  transaction_.count_written_change(true);
  change.done();
}

GroupTable::GroupTable(const sqlite::Definition& definition, Shared& shared)
    : db_(definition.db),
      shared_(shared),
      options_(definition.db, definition.arguments),
      store_(definition.db, definition.schema, definition.table),
      transaction_(definition.db),
      writer_(definition.db, store_, transaction_),
      list_collations_(definition.db, definition.vtab),
      encoding_(definition.db) {
  require_group_name(definition.table);
  GroupColumnTypes types;
  if (const auto names = options_.source()) {
    follower_.emplace(db_, store_, writer_, *names);
    options_.set_default_collation(follower_->collation());
    types.member = follower_->type_of_member();
    types.member_collation = follower_->member_collation();
    types.key = follower_->type_of_key();
  }
  types.key_collation = options_.collation();
  columns_ = declared_group_columns(definition.table, types);
  shared_.tables.push_back(this);
}

GroupTable::~GroupTable() {
  shared_.tables.erase(std::find(shared_.tables.begin(), shared_.tables.end(), this));
}

void GroupTable::create() {
  if (follower_) {
    follower_->create(options_);
  } else {
    GroupConfig config;
    config.header = options_.header();
    store_.create(config);
  }
  transaction_.created();
  store_.tables().note_connected();
}

void GroupTable::destroy() {
  store_.tables().watch_name();  // a rollback may give the table back
  follower_ ? follower_->drop() : store_.tables().drop();
}

int GroupTable::best_index(sqlite3_index_info& info) {
  list_collations_.statement_was_prepared();
  store_.statement_was_prepared();
  if (follower_) {
    follower_->schema_may_have_changed();
  }
  return choose_group_plan(info, options_.collation());
}

void GroupTable::rename(const char* name) {
  require_group_name(name);
  require_usable();
  store_.tables().require_names_are_free(name);
  shared_.write_deferred_keys();
  store_.tables().watch_name();
  follower_ ? follower_->rename(name) : store_.tables().rename(name);
  transaction_.note_renamed();
  watch_others();
}

void GroupTable::require_usable() {
  if (transaction_.may_have_old_name()) {
    refuse_renamed();
  }
  store_.tables().require_same_table();
}

int GroupTable::update(const Values& values) {
  require_usable();
  if (!transaction_.is_open()) {
    refuse_rolled_back();
  }
  if (std::any_of(shared_.tables.begin(), shared_.tables.end(), [&](const GroupTable* table) {
        return table->changes_in_progress_ != 0 && is_same_table(*table);
      })) {
    fail("a trigger on a shadow table cannot change the table");
  }
  transaction_.note_write_for_cursors();
  const Value old_row = values[0];
  if (values.size() == 1 || !old_row.is_null()) {
    refuse_if_following("change the members of");
  }
  if (values.size() == 1) {
    remove_member(old_row);
  } else if (old_row.is_null()) {
    return insert(values.from(2));
  } else {
    rename_member(old_row, values.from(2));
  }
  return SQLITE_OK;
}

int GroupTable::insert(const Values& columns) {
  const Value member = group_column(columns, GroupColumn::member);
  const Value key = group_column(columns, GroupColumn::key);
  const Value filter = group_column(columns, GroupColumn::filter);
  const Value command = group_column(columns, GroupColumn::command);
  refuse_group_properties(columns);
  if (!command.is_null()) {
    if (!key.is_null() || !filter.is_null()) {
      refuse_command_with_value();
    }
    run_command(command, member);
    return SQLITE_OK;
  }
  refuse_if_following("INSERT into");
  if (member.is_null()) {
    if (sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE) {
      return SQLITE_CONSTRAINT;  // SQLite then skips the row
    }
    refuse_null_member();
  }
  if (filter.is_null()) {
    return insert_key(member, key);
  }
  if (!key.is_null()) {
    fail("one row cannot have a key and a filter (INSERT several rows)");
  }
  insert_filter(member, filter);
  return SQLITE_OK;
}

// For a NULL key adds only the member, because no value that is looked up equals NULL. INSERT OR
// IGNORE adds the key only if it is certainly absent.
int GroupTable::insert_key(const Value& member, const Value& key) {
  const bool skip_present = sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE;
  const Key bytes(key);
  refuse_filter_or_handle(bytes, key);
  const auto add_key = [&](std::uint64_t slot) {
    if (!bytes.is_null()) {
      writer_.add(slot, bytes.hash(writer_.config().header.shape), !skip_present);
    }
  };
  const auto slot = writer_.find(member);
  if (!slot) {
    change([&] { add_key(writer_.add_member(member)); });
    return SQLITE_OK;
  }
  if (skip_present) {
    writer_.write_deferred();
    writer_.merge_row_log();
    const GroupConfig& config = writer_.config();
    if (bytes.is_null() ||
        store_.segments().may_contain(config, *slot, bytes.hash(config.header.shape))) {
      return SQLITE_CONSTRAINT;
    }
  }
  add_key(*slot);
  return SQLITE_OK;
}

void GroupTable::insert_filter(const Value& member, const Value& filter) {
  sqlite::Interrupts interrupts(db_);
  const InterruptCheck check_interrupt = interrupts.check();
  const FilterView added = filter_argument(filter, "filter", check_interrupt);
  std::optional<Filter> fitting;
  if (!is_neutral(added, check_interrupt)) {
    const Header header = store_.load_config().header;
    fitting = fit_incoming_filter(added, header, "the member", check_interrupt);
  }
  write_all_keys();
  change([&] {
    const auto known = writer_.find(member);
    const std::uint64_t slot = known ? *known : writer_.add_member(member);
    if (fitting) {
      store_.segments().add_filter(writer_.config(), slot, fitting->view().cells());
    }
  });
}

// Returns the slot of a row that Cursor::return_row_identity() has named.
std::uint64_t GroupTable::slot_of_row(const Value& row, std::string_view change) {
  if (row.type() != SQLITE_INTEGER) {
    fail("cannot " + std::string(change) +
         " members by key: the lookup may return a member that does not have the key (compare "
         "member, as in WHERE member = ?)");
  }
  return static_cast<std::uint64_t>(row.integer());
}

void GroupTable::rename_member(const Value& row, const Values& columns) {
  for (int i = static_cast<int>(GroupColumn::key); i < columns.size(); ++i) {
    if (!columns[i].is_unchanged()) {
      fail("UPDATE can change only the column member, and cannot have FROM");
    }
  }
  const std::uint64_t slot = slot_of_row(row, "rename");
  const Value member = group_column(columns, GroupColumn::member);
  if (member.is_null()) {
    refuse_null_member();
  }
  write_all_keys();
  const auto other = store_.members().slot_of(store_.load_config(), member);
  if (other && other != slot) {
    throw SqliteError(SQLITE_CONSTRAINT_UNIQUE,
                      "member " + member.describe() + " exists already (DELETE it first)");
  }
  if (store_.members().has_member(slot)) {
    store_.members().rename(slot, member);
  }
  writer_.forget_rows();
  transaction_.count_written_change(true);
}

void GroupTable::remove_member(const Value& row) {
  const std::uint64_t slot = slot_of_row(row, "delete");
  write_all_keys();
  const GroupConfig config = store_.load_config();
  if (!store_.members().has_member(slot)) {
    return;
  }
  change([&] {
    store_.remove_member(config, slot);
    ++shared_.removals;
  });
}

void GroupTable::refuse_if_following(std::string_view change) const {
  if (follower_) {
    const std::string source = sqlite::quoted_text(follower_->source());
    fail("cannot " + std::string(change) + " a table that follows " + source + " (change " +
         source + " instead)");
  }
}

constexpr Command<GroupTable> GroupTable::kCommands[] = {
    {"rebuild", "member",
     [](GroupTable& t, const Value& member) {
       t.run_on_follower([&](GroupSourceFollower& follower, bool is_only_writer) {
         member.is_null() ? follower.rebuild(t.options_, is_only_writer)
                          : follower.rebuild_member(member, is_only_writer);
       });
     }},
    {"merge", nullptr,
     [](GroupTable& t, const Value&) {
       t.run_on_follower([](GroupSourceFollower& follower, bool is_only_writer) {
         follower.merge(is_only_writer);
       });
     }},
    {"optimize", nullptr, [](GroupTable& t, const Value&) { t.optimize(); }},
    {"clear", nullptr, [](GroupTable& t, const Value&) { t.clear(); }},
    {"integrity-check", nullptr, [](GroupTable& t, const Value&) { t.check_integrity(); }},
};

// If a command fails, SQLite undoes it, and keeps the rest of the user's transaction.
void GroupTable::run_command(const Value& command, const Value& member) {
  const auto& found = find_command(std::span<const Command<GroupTable>>(kCommands), command);
  if (found.argument == nullptr && !member.is_null()) {
    refuse_command_with_value();
  }
  write_all_keys();
  const TransactionState::CommandScope scope(transaction_);
  store_.tables().atomically([&] { found.run(*this, member); });
}

void GroupTable::run_on_follower(
    const std::function<void(GroupSourceFollower&, bool is_only_writer)>& command) {
  if (!follower_) {
    fail("the commands 'rebuild' and 'merge' are for a table with a source");
  }
  change([&] {
    ++shared_.removals;
    command(*follower_, transaction_.is_only_writer());
  });
}

void GroupTable::clear() {
  refuse_if_following("clear");
  change([&] {
    ++shared_.removals;
    GroupConfig config = store_.load_config();
    store_.clear(config);
  });
}

// In _data a lookup reads one row per segment, and these rows are neighbours. In _wide a lookup
// reads k rows for up to 496 segments, and each row takes about twice as long (bench/groups.py). So
// _wide is faster for more than 2 * k segments.
//
// Free slots in _wide are not used again, because clearing the bits of one filter there would write
// all rows. Once more than half of all slots are free, the members are moved together. Each slot is
// freed once, so this takes as long as adding the members did. A statement that is listing members
// knows their slots, so they stay while there is one.
void GroupTable::optimize() {
  // A slot whose member reads as NULL would be freed.
  sqlite::require_readable(db_, store_.tables().schema(), store_.tables().name("members"));
  GroupConfig config = store_.load_config();
  const auto segments_for = [](std::uint64_t slots) {
    return (slots + kSegmentFilters - 1) / kSegmentFilters;
  };
  const std::uint64_t members = store_.members().count();
  const bool packs = shared_.cursors == 0 && 2 * members < store_.members().end_of_slots(config) &&
                     segments_for(members) < config.segments;
  const std::uint64_t used = std::max(
      config.wide_segments, segments_for(store_.members().end_of_members(config)));  // segments
  change([&] {
    if (packs) {
      store_.pack(config);
    } else if (used < config.segments) {
      store_.drop_segments(config, used);
    }
    shared_.removals += packs || used < config.segments ? 1 : 0;
    const std::uint64_t full = store_.members().end_of_slots(config) / kSegmentFilters;
    if (full > std::uint64_t{2} * config.header.shape.hashes && full > config.wide_segments) {
      store_.widen(config, full);
    }
  });
}

void GroupTable::check_integrity() {
  require_usable();
  shared_.write_deferred_keys();
  store_.check(store_.load_config());
  if (follower_) {
    follower_->check();
  }
}

void add_group_module(sqlite3* db) { sqlite::Module<GroupTable>::add(db); }

}  // namespace bloom
