#include "sql/group_table/follow/group_source_follower.h"

#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::SqliteError;
using sqlite::Statement;
using sqlite::Value;

std::vector<TriggerSet> trigger_sets() {
  const auto make = [](const Source& source, const std::string& table, const std::string&) {
    return triggers_that_log(source, table, RemovedKey::first_column);
  };
  return {{.number = kTriggersForMembers, .names_suffix = kAfterDeleteSuffix, .make = make}};
}

}  // namespace

GroupSourceFollower::GroupSourceFollower(sqlite3* db, GroupStore& store, GroupWriter& writer,
                                         const SourceNames& names)
    : db_(db),
      store_(store),
      writer_(writer),
      link_(db, store.tables().schema(), store.tables().table(), names, trigger_sets(),
            ChangeLog::side_table(names.columns.size()), "keys may be missing from the filters"),
      source_(link_.source()),
      change_log_(db, store.tables().schema(), store.tables().table()) {
  if (!is_composite()) {
    comparison_.emplace(db, link_.declared().rules(1).affinity);
  }
}

std::vector<std::string> GroupSourceFollower::key_columns() const {
  const std::vector<std::string>& columns = source_.names().columns;
  return {columns.begin() + 1, columns.end()};
}

LinkedObjects GroupSourceFollower::objects_of(const GroupConfig& config) {
  return {kTriggersForMembers, config.guard_index};
}

// The collation of the members does not matter: they are compared by BINARY.
void GroupSourceFollower::require_supported(Collation collation) const {
  Source(db_, source_.schema(), {source(), key_columns()}).require_collation(collation);
  if (source_.missing_column()) {
    refuse("member", "a column of " + source(), quoted_text(member_column()));
  }
  if (const std::string late = source_.facts().why_unknown_before_write; !late.empty()) {
    fail("cannot follow " + quoted_text(source()) + ": " + late +
         ", so BEFORE triggers do not see the final value (name another column)");
  }
}

void GroupSourceFollower::create(const GroupOptions& options) {
  // A running statement does not fire triggers that are created while it runs.
  source_.require_no_other_writer();
  require_supported(options.collation());
  // First change log and triggers, then the scan: what is written meanwhile is recorded.
  const LinkedObjects made = link_.create(store_.tables().table(), kTriggersForMembers);
  store_.create(new_config(options, made));
  add_rows("", nullptr);
}

void GroupSourceFollower::drop() {
  link_.drop(store_.tables().table(), store_.load_guard());
  store_.tables().drop();
}

void GroupSourceFollower::rename(const char* name) {
  link_.rename(store_.tables().table(), name, {kTriggersForMembers, store_.load_guard()},
               [&] { store_.tables().rename(name); });
  change_log_.rename(name);
}

GroupConfig GroupSourceFollower::new_config(const GroupOptions& options,
                                            const LinkedObjects& made) const {
  GroupConfig config;
  config.header = options.header(options.has_capacity() ? 0 : count_keys_of_largest_member());
  config.guard_index = made.guard_index;
  if (is_composite()) {
    config.parts = source_.collations();
    config.parts.erase(config.parts.begin());
  }
  return config;
}

// Returns a condition on the row t of the source.
std::string GroupSourceFollower::keys_not_null_sql() const {
  std::string condition;
  for (const std::string& column : source_.names().columns) {
    condition.append(condition.empty() ? "" : " AND ").append("t.").append(quoted_name(column));
    condition.append(" IS NOT NULL");
  }
  return condition;
}

std::string GroupSourceFollower::select_rows(const std::string& condition) const {
  return "SELECT " + source_.columns_sql("t") + " FROM " + source_.qualified(source()) +
         " AS t WHERE " + keys_not_null_sql() + condition;
}

std::uint64_t GroupSourceFollower::count_keys_of_largest_member() const {
  std::string columns = "t." + quoted_name(member_column()) + " COLLATE BINARY AS m";
  for (const std::string& column : key_columns()) {
    columns.append(", t.").append(quoted_name(column));
  }
  const Statement select(db_, "SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT DISTINCT " +
                                  columns + " FROM " + source_.qualified(source()) +
                                  " AS t WHERE " + keys_not_null_sql() + ") GROUP BY m)");
  Execution run(select);
  run.step();
  return static_cast<std::uint64_t>(run.integer(0));
}

std::optional<std::string> GroupSourceFollower::out_of_sync(const GroupConfig& config) {
  return link_.check(store_.tables().table(), objects_of(config), [&] {
    const ShadowTables& tables = store_.tables();
    sqlite::require_readable(db_, tables.schema(), tables.name("members"));
    return std::nullopt;
  });
}

void GroupSourceFollower::require_same_columns() const {
  link_.require_same_columns(store_.tables().table());
}

void GroupSourceFollower::require_in_sync(const GroupConfig& config) {
  if (const auto problem = out_of_sync(config)) {
    fail(*problem);
  }
}

GroupChangeLog& GroupSourceFollower::read_change_log(const GroupConfig& config) {
  change_log_.read(form_of(config));
  return change_log_;
}

void GroupSourceFollower::add_row(const Execution& row, int first, const KeyForm& form) {
  const Value member = row.value(first);
  const SourceKey key = key_of_row(row, first + 1, form);
  if (member.is_null() || !key.hash) {
    return;
  }
  const auto known = writer_.find(member);
  const std::uint64_t slot = known ? *known : writer_.add_member(member);
  KeyHashes(form.shape).for_each_hash(key, [&](Hash hash) {
    writer_.add(slot, hash, /*may_use_row_log=*/false);
  });
}

// Adds the keys of the rows of the source for which the condition holds. ?1 is the member.
void GroupSourceFollower::add_rows(const std::string& condition, const Value* member) {
  GroupWriter::Bulk bulk(writer_);
  const KeyForm form = form_of(store_.load_config());
  const Statement select(db_, select_rows(condition));
  Execution run(select);
  if (member != nullptr) {
    run.bind(1, *member);
  }
  while (run.step()) {
    add_row(run, 0, form);
  }
  bulk.done();
}

void GroupSourceFollower::add_pending_rows(std::int64_t last) {
  GroupWriter::Bulk bulk(writer_);
  const KeyForm form = form_of(store_.load_config());
  change_log_.for_each_row(
      [&](ChangeLog::Change change, const Execution& row, int first) {
        if (change == ChangeLog::kAdded || change == ChangeLog::kAnnounced) {
          add_row(row, first, form);
        }
      },
      last);
  bulk.done();
}

// With an index on the members, looks up each removed one. Otherwise reads the source once.
std::vector<sqlite::OwnedValue> GroupSourceFollower::members_without_rows(std::int64_t last) const {
  constexpr int kDetail = 3;
  const std::string member = quoted_name(member_column());
  const std::string removed = "SELECT DISTINCT p.key1 FROM " +
                              source_.qualified(link_.side_table(store_.tables().table())) +
                              " AS p WHERE p.id <= ?1 AND p.added IN (" +
                              std::to_string(ChangeLog::kRemoved) + ", " +
                              std::to_string(ChangeLog::kKept) + ") AND p.key1 IS NOT NULL AND ";
  const std::string rows =
      " FROM " + source_.qualified(source()) + " AS t WHERE " + keys_not_null_sql();
  std::string sql =
      removed + "NOT EXISTS (SELECT 1" + rows + " AND t." + member + " COLLATE BINARY = p.key1)";
  bool has_index = false;
  const Statement explain(db_, "EXPLAIN QUERY PLAN " + sql);
  for (Execution plan(explain); plan.step();) {
    const std::string_view detail = plan.value(kDetail).text();
    has_index =
        has_index || (detail.find("SEARCH") == 0 && detail.find("AUTO") == std::string_view::npos &&
                      detail.find(" t ") != std::string_view::npos);
  }
  if (!has_index) {
    sql = removed + "p.key1 COLLATE BINARY NOT IN (SELECT t." + member + rows + ")";
  }
  const Statement select(db_, sql);
  Execution run(select);
  run.bind(1, last);
  std::vector<sqlite::OwnedValue> gone;
  while (run.step()) {
    gone.push_back(run.value(0).copy());
  }
  return gone;
}

// While a statement writes to the source, a row may be in the change log and not yet in the source.
// So announcements stay then, and so do the members of removed rows.
void GroupSourceFollower::merge(bool is_only_writer) {
  schema_may_have_changed();
  link_.require_readable(store_.tables().table());
  require_in_sync(store_.load_config());
  const std::int64_t last = change_log_.last_id();
  if (last == 0) {
    return;
  }
  if (!is_only_writer || source_.may_be_being_written()) {
    add_pending_rows(last);
    return change_log_.clear(ChangeLog::Keep::announcements_and_removals, last);
  }
  const bool reads_source = change_log_.has_announcement();
  const auto removed = members_without_rows(last);
  reads_source ? add_rows("", nullptr) : add_pending_rows(last);
  for (const auto& member : removed) {
    const GroupConfig config = store_.load_config();
    if (const auto slot = store_.members().slot_of(config, Value(member.get()))) {
      store_.remove_member(config, *slot);
    }
  }
  change_log_.clear(ChangeLog::Keep::nothing, last);
}

void GroupSourceFollower::rebuild(GroupOptions options, bool is_only_writer) {
  const GroupConfig before = store_.load_config();
  const bool installed =
      link_.triggers().refresh_names_and_check(store_.tables().table(), kTriggersForMembers);
  if (!installed) {
    link_.guard().give_names_to_source(before.guard_index);
  }
  options.set_default_collation(collation());
  source_.require_not_being_written(is_only_writer);
  link_.require_names_and_columns();
  link_.require_readable(store_.tables().table());
  require_supported(options.collation());
  const LinkedObjects made =
      link_.restore(store_.tables().table(), objects_of(before), kTriggersForMembers,
                    /*triggers_are_current=*/installed);
  change_log_.expire();
  GroupConfig config = new_config(options, made);
  config.has_row_log = before.has_row_log;
  store_.clear(config);
  add_rows("", nullptr);
}

// The keys of rows that were deleted are forgotten. First merges, so that the change log has no row
// of the member.
void GroupSourceFollower::rebuild_member(const Value& member, bool is_only_writer) {
  merge(is_only_writer);
  source_.require_not_being_written(is_only_writer);
  const std::string same_member = " AND t." + quoted_name(member_column()) + " COLLATE BINARY = ?1";
  for (const std::uint64_t slot : store_.members().slots_equal_to(store_.load_config(), member)) {
    sqlite::OwnedValue stored;
    store_.members().with_member(slot, [&](const Value& value) { stored = value.copy(); });
    if (stored) {
      const Value value(stored.get());
      store_.remove_member(store_.load_config(), slot);
      writer_.forget_rows();
      add_rows(same_member, &value);
    }
  }
}

void GroupSourceFollower::check() {
  source_.require_not_being_written(/*is_only_writer=*/true);
  link_.require_readable(store_.tables().table());
  const GroupConfig config = store_.load_config();
  if (const auto problem = link_.problem_of_objects(store_.tables().table(), objects_of(config))) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, *problem);
  }
  const KeyForm form = form_of(config);
  const GroupChangeLog& change_log = read_change_log(config);
  const Statement select(db_, select_rows(""));
  Execution run(select);
  while (change_log.is_complete() && run.step()) {
    const Value member = run.value(0);
    const SourceKey key = key_of_row(run, 1, form);
    const auto slot = store_.members().slot_of(config, member);
    bool has_all = true;
    KeyHashes(form.shape).for_each_hash(key, [&](Hash hash) {
      has_all = has_all && (change_log.may_contain(member, hash) ||
                            (slot && store_.segments().may_contain(config, *slot, hash)));
    });
    if (!has_all) {
      throw SqliteError(SQLITE_CORRUPT_VTAB, "the source has the row " + describe_row(run) +
                                                 ", which the filters do not have");
    }
  }
}

bool GroupSourceFollower::for_each_source_member(const GroupConfig& config,
                                                 const std::function<void(const Value&)>& f) const {
  if (!link_.guard().exists(config.guard_index)) {
    return false;
  }
  link_.require_readable(store_.tables().table());
  const Statement select(db_, "SELECT DISTINCT t." + quoted_name(member_column()) +
                                  " COLLATE BINARY FROM " + source_.qualified(source()) +
                                  " AS t WHERE " + keys_not_null_sql());
  Execution run(select);
  while (run.step()) {
    f(run.value(0));
  }
  return true;
}

std::vector<Hash> GroupSourceFollower::hashes_of(const Key& key, const Value& value,
                                                 const GroupConfig& config,
                                                 sqlite::ReusableValue& converted) {
  const Shape& shape = config.header.shape;
  if (is_composite()) {
    if (count_parts(key.bytes()) != key_columns().size()) {
      std::string call;
      for (const std::string& column : key_columns()) {
        call.append(call.empty() ? "bloom_key(" : ", ").append(column);
      }
      refuse("key", call + "), because the filters follow these columns", value.describe());
    }
    return {hash_composite(key.bytes(), config.parts, shape.seed)};
  }
  std::vector<Hash> hashes;
  const SourceComparison::OtherForms forms = comparison_->other_forms(key, value, converted);
  if (forms.number) {
    hashes.push_back(hash_key(*forms.number, shape.collation, shape.seed));
  }
  hashes.push_back(key.hash(shape));
  if (forms.may_be_text) {
    hashes.push_back(noncanonical_marker(shape));
  }
  return hashes;
}

}  // namespace bloom
