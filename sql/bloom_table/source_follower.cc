#include "sql/bloom_table/source_follower.h"

#include <algorithm>
#include <cmath>

#include "core/operations/hyperloglog.h"
#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::quoted_text;
using sqlite::SqliteError;

KeyForm form_of(PagedFilter& filter) { return {filter.shape(), filter.config().parts}; }

constexpr std::string_view kRebuildFixes = "the command 'rebuild' fixes that";

std::vector<TriggerSet> trigger_sets(bool counting, bool composite) {
  const auto commands = [&](std::uint64_t trigger_set_number) {
    return [=](const Source& source, const std::string& table, const std::string& target) {
      return triggers_that_command(source, table, target, counting, trigger_set_number);
    };
  };
  const auto recording = [=](const Source& source, const std::string& table, const std::string&) {
    return triggers_that_log(source, table,
                             counting ? RemovedKey::all_columns : RemovedKey::nothing);
  };
  return {{.number = kTriggersForAny,
           .names_suffix = composite ? kAfterUpdateSuffix : kBeforeUpdateSuffix,
           .make = recording},
          {.number = kTriggersForExtension,
           .names_suffix = kBeforeUpdateSuffix,
           .make = commands(kTriggersForExtension)},
          {.number = kTriggersOfRelease1,
           .names_suffix = kAfterDeleteSuffix,
           .has_sentinel = false,
           .make = commands(kTriggersOfRelease1)}};
}

// Returns whether the schema lists the source before this table. Returns false if it lacks one.
bool is_older(const Source& source, const std::string& table) {
  const std::string rowid = "(SELECT rowid FROM " + source.qualified("sqlite_master") +
                            " WHERE type = 'table' AND name = ";
  const sqlite::Statement select(
      source.db(), "SELECT " + rowid + "?1 COLLATE NOCASE) < " + rowid + "?2 COLLATE NOCASE)");
  sqlite::Execution run(select);
  return run.bind(1, source.names().table).bind(2, table).step() && run.integer(0) != 0;
}

LinkedObjects objects_of(const BloomConfig& config) {
  return {config.trigger_set_number, config.guard_index};
}

}  // namespace

SourceFollower::SourceFollower(sqlite3* db, const std::string& schema, const std::string& table,
                               const SourceNames& names, Kind kind)
    : counting_(kind == Kind::counting),
      link_(db, schema, table, names, trigger_sets(counting_, names.columns.size() > 1),
            ChangeLog::side_table(names.columns.size()), "keys may be missing from the filter"),
      source_(link_.source()),
      triggers_(link_.triggers()),
      probe_(source_) {
  for (std::size_t i = 0; i < columns().size(); ++i) {
    comparisons_.emplace_back(db, link_.declared().rules(i).affinity);
  }
}

void SourceFollower::create(PagedFilter& filter, const BloomOptions& options) {
  const Writers writers = options.writers().value_or(Writers::any);
  // A running statement does not fire triggers that are created while it runs.
  source_.require_no_other_writer();
  source_.require_can_follow(options.collation(), writers);
  // First change log and triggers, then the scan: what is written meanwhile is recorded.
  const LinkedObjects made = link_.create(filter.table(), SourceTriggers::trigger_set_for(writers));
  filter.create(new_config(options, made), [&](const auto& add) { add_all_keys(filter, add); });
}

BloomConfig SourceFollower::new_config(const BloomOptions& options,
                                       const LinkedObjects& made) const {
  return {.layers = Layers(options.header(count_keys(options.collation()))),
          .trigger_set_number = made.trigger_set_number,
          .guard_index = made.guard_index,
          .parts = part_collations()};
}

void SourceFollower::drop(PagedFilter& filter) {
  link_.drop(filter.table(), filter.stored_guard());
  filter.drop();
}

void SourceFollower::rename(PagedFilter& filter, const char* name) {
  link_.rename(filter.table(), name, objects_of(filter.config()), [&] { filter.rename(name); });
}

void SourceFollower::rebuild(PagedFilter& filter, BloomOptions options) {
  const BloomConfig before = filter.config();
  const Writers writers = writers_after_rebuild(before, options);
  const std::uint64_t trigger_set_number = SourceTriggers::trigger_set_for(writers);
  const bool installed = before.trigger_set_number == trigger_set_number &&
                         triggers_.refresh_names_and_check(filter.table(), trigger_set_number) &&
                         (writers == Writers::any || !triggers_.blocking_trigger(filter.table()));
  if (!installed) {
    link_.guard().give_names_to_source(before.guard_index);
  }
  options.set_default_collation(collation());
  source_.require_not_being_written(filter.command_is_only_writer());
  link_.require_names_and_columns();
  link_.require_readable(filter.table());
  source_.require_can_follow(options.collation(), writers);
  const LinkedObjects made = link_.restore(filter.table(), objects_of(before), trigger_set_number,
                                           /*triggers_are_current=*/installed);
  filter.rebuild(new_config(options, made), [&](const auto& add) { add_all_keys(filter, add); });
}

// An announced key that is not in the change log is in the source, unless its statement is still
// running.
void SourceFollower::merge(PagedFilter& filter) {
  if (!filter.config().has_change_log()) {
    return;
  }
  schema_may_have_changed();
  link_.require_readable(filter.table());
  if (const auto problem = out_of_sync(filter)) {
    fail(*problem);
  }
  if (!filter.change_log_has_announcement()) {
    return filter.merge_change_log(ChangeLog::Keep::nothing);
  }
  if (!filter.command_is_only_writer() || source_.may_be_being_written()) {
    return filter.merge_change_log(ChangeLog::Keep::announcements);
  }
  filter.merge_change_log(ChangeLog::Keep::nothing,
                          [&](const auto& add) { add_all_keys(filter, add); });
}

// A table of version 1.0 has no option `writers`. It gets the default if its columns allow that.
Writers SourceFollower::writers_after_rebuild(const BloomConfig& config,
                                              const BloomOptions& options) const {
  const bool extension_only =
      !config.has_change_log() && !source_.facts().why_unknown_before_write.empty();
  return options.writers().value_or(extension_only ? Writers::extension : Writers::any);
}

bool SourceFollower::is_trigger_command(std::string_view command) {
  return command == kAddCommand || command == kRemoveCommand || command == kExpectCommand;
}

// Ignores the conflict rule (OR IGNORE, OR REPLACE) of the statement that fired the trigger.
//
// The first change of a statement that defers its changes may be a removal, which needs no check.
void SourceFollower::run_trigger_command(PagedFilter& filter, std::string_view command,
                                         const sqlite::Value& value) {
  has_checked_triggers_ = has_checked_triggers_ && filter.is_deferring();
  if (command != kRemoveCommand && !has_checked_triggers_) {
    look_for_blocking_triggers(filter);
    require_after_triggers();
    has_checked_triggers_ = true;
  }
  const SourceKey key = key_of_value(value, is_composite(), form_of(filter));
  if (!key.hash || command == kExpectCommand) {
    return;
  }
  if (command == kAddCommand) {
    KeyHashes(filter.shape()).for_each_hash(key, [&](Hash hash) { filter.add_batched(hash); });
  } else if (filter.shape().kind == Kind::counting && !filter.remove(*key.hash)) {
    fail("the filter does not have the key " + describe_key(value, is_composite()) +
         ", which leaves the source: filter and source are out of sync (" +
         std::string(kRebuildFixes) + ")");
  }
}

// With keys that are added AFTER. Called from BEFORE triggers, so the row is not written yet.
// Explaining a statement prepares it, so what has passed is stored last.
void SourceFollower::require_after_triggers() {
  std::string running = adds_after_ ? sqlite::running_sql(source_.db()) : "";
  if (!adds_after_ || statements_passed_ == running) {
    return;
  }
  statements_passed_.reset();
  if (sqlite::running_writer_may_stop_early(source_.db(), updates_others_)) {
    fail("this statement may write a row of " + quoted_text(source()) +
         " and then end by FAIL or IGNORE, and its key would be missing (use ABORT in RAISE, ON "
         "CONFLICT and OR, or a filter with writers=any)");
  }
  statements_passed_ = std::move(running);
}

// Called from BEFORE triggers, which run for every row that changes. The finding is stored in the
// config, because the blocking trigger may be gone at the next lookup.
void SourceFollower::look_for_blocking_triggers(PagedFilter& filter) {
  const SchemaReader::State schema = source_.reader().state();
  if (unblocked_schema_ == schema) {
    return;
  }
  statements_passed_.reset();
  triggers_.refresh_names_and_check(filter.table(), filter.config().trigger_set_number);
  adds_after_ = adds_keys_after(source_, counting_);
  updates_others_ = adds_after_ &&
                    sqlite::updates_others_by_foreign_key(source_.db(), source_.schema(), source());
  if (adds_after_) {
    auto trigger = triggers_.blocking_trigger(filter.table());
    trigger = trigger ? trigger : triggers_.blocking_temp_trigger();
    if (trigger) {
      if (filter.config().blocking_trigger.empty()) {
        filter.mark_missed(*trigger);
      }
      return;
    }
  }
  unblocked_schema_ = schema;
}

std::optional<std::string> SourceFollower::out_of_sync(PagedFilter& filter) {
  const BloomConfig& config = filter.config();
  if (const std::string& trigger = config.blocking_trigger; !trigger.empty()) {
    return "rows of " + quoted_text(source()) + " were written while the AFTER trigger " +
           quoted_text(trigger) +
           " could keep their keys from being added (drop that trigger or make it BEFORE, then run "
           "the command 'rebuild')";
  }
  return link_.check(filter.table(), objects_of(config), [&] {
    auto problem = changed_source_of_release1(filter);
    return problem ? problem : blocking_trigger_problem(filter);
  });
}

// The names must be those of the source now when the probe is prepared: a statement that is running
// may have renamed it.
bool SourceFollower::may_contain(PagedFilter& filter, Hash hash, const sqlite::Value& value) {
  if (!comparison().compares_unconverted(value)) {
    return filter.may_contain(hash);
  }
  std::optional<bool> found = filter.may_contain_so_far(hash);
  if (!found && !probe_.is_prepared()) {
    link_.schema_may_have_changed();
    if (out_of_sync(filter)) {
      return filter.may_contain(hash);
    }
  }
  found = found ? found : probe_.find(value);
  return found ? *found : filter.may_contain(hash);
}

// Version 1.0 made no sentinel. A source that was replaced since is newer than the config in the
// schema, also after VACUUM and a dump.
std::optional<std::string> SourceFollower::changed_source_of_release1(PagedFilter& filter) const {
  if (filter.config().trigger_set_number != kTriggersOfRelease1 ||
      is_older(source_, config_table(filter.table()))) {
    return std::nullopt;
  }
  return "the source " + quoted_text(source()) +
         " was created again, so keys may be missing from the filter (" +
         std::string(kRebuildFixes) + ")";
}

// With writers=any no trigger can keep keys from being added.
std::optional<std::string> SourceFollower::blocking_trigger_problem(PagedFilter& filter) const {
  if (filter.config().has_change_log()) {
    return std::nullopt;
  }
  if (const auto trigger = triggers_.blocking_trigger(filter.table())) {
    return "the AFTER trigger " + quoted_text(*trigger) + " runs before the triggers of source " +
           quoted_text(source()) + " and may keep them from running (" +
           std::string(kRebuildFixes) + ")";
  }
  return std::nullopt;
}

void SourceFollower::check(PagedFilter& filter) {
  source_.require_not_being_written(/*is_only_writer=*/true);
  link_.require_readable(filter.table());
  auto problem = link_.problem_of_objects(filter.table(), objects_of(filter.config()));
  problem = problem ? problem : changed_source_of_release1(filter);
  if (problem) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, *problem);
  }
  const KeyForm form = form_of(filter);
  const Hash marker = noncanonical_marker(form.shape);
  const bool has_marker = !is_composite() || !filter.config().parts.empty();
  source_.for_each_row([&](const sqlite::Execution& row) {
    const SourceKey key = key_of_row(row, 0, form);
    const bool needs_marker = has_marker && key.needs_marker;
    if (key.hash &&
        (!filter.may_contain(*key.hash) || (needs_marker && !filter.may_contain(marker)))) {
      throw SqliteError(SQLITE_CORRUPT_VTAB,
                        "the source has " + describe_row(row) + ", which the filter does not have");
    }
  });
}

void SourceFollower::add_all_keys(PagedFilter& filter, const PagedFilter::Add& add) const {
  const KeyForm form = form_of(filter);
  KeyHashes hashes(form.shape);
  source_.for_each_row(
      [&](const sqlite::Execution& row) { hashes.for_each_hash(key_of_row(row, 0, form), add); });
}

std::optional<std::uint64_t> SourceFollower::count_removed(
    PagedFilter& filter, std::optional<std::uint64_t> keys) const {
  if (!keys) {
    return std::nullopt;
  }
  const std::uint64_t all = *keys + filter.change_log_size();
  return all - std::min(all, count_keys(filter.shape().collation));
}

std::uint64_t SourceFollower::count_keys(Collation collation) const {
  HyperLogLog keys;
  KeyForm form{.shape = {}, .parts = part_collations()};
  form.shape.collation = collation;
  std::uint64_t rows = 0;
  source_.for_each_row([&](const sqlite::Execution& row) {
    if (const auto hash = key_of_row(row, 0, form).hash) {
      keys.add(*hash);
      ++rows;
    }
  });
  // An attacker could choose keys that raise the estimate, so the number of rows is the upper
  // bound.
  return std::min(rows, static_cast<std::uint64_t>(std::llround(keys.estimate())));
}

}  // namespace bloom
