#include "sql/table/source_follower.h"

#include <algorithm>
#include <cmath>

#include "core/operations/cardinality.h"
#include "core/support/error.h"
#include "sql/sqlite/guard.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::quoted_text;
using sqlite::SqliteError;

constexpr std::string_view kRebuildFixes = "the command 'rebuild' fixes that";
constexpr std::string_view kRebuildOrDropFixes =
    "the command 'rebuild' fixes that; if the source no longer exists, run DROP TABLE";

}  // namespace

void SourceFollower::create(PagedFilter& filter, const Options& options) {
  const Writers writers = options.writers().value_or(Writers::any);
  require_no_other_writer();
  source_.require_can_follow(options.collation(), writers);
  const Config config{.layers = Layers(options.header(count_keys(options.collation()))),
                      .trigger_version = SourceTriggers::version_for(writers),
                      .guard_index = source_.make_guard(filter.table())};
  filter.create(config, [&](const auto& add) { fill(filter, config, add); });
  triggers_.install(filter.table(), config.trigger_version);
}

// A running statement does not fire triggers that are created while it runs. And it may have
// recorded a key whose row it has not written yet: a scan of the source would miss both.
void SourceFollower::require_no_other_writer() const {
  if (source_.is_being_written()) {
    throw Error(Error::Kind::invalid,
                "cannot begin to follow " + quoted_text(source()) +
                    " while another statement of this connection is writing (finish that statement "
                    "first)");
  }
}

// Version 1.0 made no guard index.
bool SourceFollower::has_guard(const Config& config) const {
  return config.trigger_version == SourceTriggers::kVersionOfRelease1 ||
         source_.has_guard(config.guard_index);
}

void SourceFollower::drop(PagedFilter& filter) {
  triggers_.uninstall(filter.table());
  source_.drop_guard(filter.stored_guard());
  filter.drop();
}

void SourceFollower::rename(PagedFilter& filter, const char* name) {
  const std::string old_name = filter.table();
  const std::uint64_t version = filter.config().trigger_version;
  // ALTER TABLE has already renamed the target in triggers that write to the bloom table, except
  // under PRAGMA legacy_alter_table.
  const bool installed = triggers_.refresh_names_and_check(old_name, name, version) ||
                         triggers_.refresh_names_and_check(old_name, version);
  triggers_.uninstall(old_name);
  filter.rename(name);
  if (installed) {
    triggers_.install(name, version);
  }
}

void SourceFollower::rebuild(PagedFilter& filter, const Options& options) {
  const Config before = filter.config();
  const Writers writers = writers_after_rebuild(before, options);
  const std::uint64_t version = SourceTriggers::version_for(writers);
  const bool installed = before.trigger_version == version &&
                         triggers_.refresh_names_and_check(filter.table(), version) &&
                         (writers == Writers::any || !triggers_.blocking_trigger(filter.table()));
  const bool guarded = source_.has_guard(before.guard_index);
  require_no_other_writer();
  if (source_.is_being_written_by_trigger(filter.table())) {
    fail("cannot rebuild within a trigger: the row that fired it may not be in " +
         quoted_text(source()) + " yet (run the command 'rebuild' on its own)");
  }
  source_.require_can_follow(options.collation(), writers);
  const Config config{
      .layers = Layers(options.header(count_keys(options.collation()))),
      .trigger_version = version,
      .guard_index = guarded ? before.guard_index : source_.make_guard(filter.table())};
  filter.rebuild(config, [&](const auto& add) { fill(filter, config, add); });
  if (!installed) {
    triggers_.uninstall(filter.table());
    triggers_.install(filter.table(), version);
  }
}

// A table of version 1.0 has no option `writers`. It gets the default if its columns allow that.
Writers SourceFollower::writers_after_rebuild(const Config& config, const Options& options) const {
  const bool extension_only = !config.has_log() && !source_.facts().unknown_before_write.empty();
  return options.writers().value_or(extension_only ? Writers::extension : Writers::any);
}

bool SourceFollower::is_change(std::string_view command) {
  return command == SourceTriggers::kAdd || command == SourceTriggers::kRemove ||
         command == SourceTriggers::kExpect;
}

// Ignores the conflict rule (OR IGNORE, OR REPLACE) of the statement that fired the trigger.
void SourceFollower::change(PagedFilter& filter, std::string_view command,
                            const sqlite::Value& value) {
  if (command != SourceTriggers::kRemove && !filter.is_deferring()) {
    look_for_blocking_triggers(filter);
  }
  const Key key(value);
  if (key.is_null() || command == SourceTriggers::kExpect) {
    return;
  }
  const Hash hash = key.hash(filter.shape());
  if (command == SourceTriggers::kAdd) {
    add_key(filter, key);
  } else if (filter.shape().kind != Kind::counting) {
    filter.note_stale_key();
  } else if (!filter.remove(hash)) {
    fail("the filter does not have the key " + value.describe() +
         ", which leaves the source: filter and source are out of sync (" +
         std::string(kRebuildFixes) + ")");
  }
}

// A counting filter gets the marker once, so that its counters do not become saturated.
void SourceFollower::add_key(PagedFilter& filter, const Key& key) {
  filter.add_deferred(key.hash(filter.shape()));
  if (key.is_noncanonical_number()) {
    const Hash marker = noncanonical_marker(filter.shape());
    if (filter.shape().kind != Kind::counting || !filter.may_contain(marker)) {
      filter.add_deferred(marker);
    }
  }
}

// Called from BEFORE triggers, which run for every row that changes. The finding is stored in the
// config, because the blocking trigger may be gone at the next lookup.
void SourceFollower::look_for_blocking_triggers(PagedFilter& filter) {
  const Versions versions{source_.schema_version(), source_.temp_schema_version()};
  if (unblocked_versions_ == versions) {
    return;
  }
  triggers_.refresh_names_and_check(filter.table(), filter.config().trigger_version);
  if (triggers_.add_keys_after()) {
    auto trigger = triggers_.blocking_trigger(filter.table());
    trigger = trigger ? trigger : triggers_.blocking_temp_trigger();
    if (trigger) {
      if (filter.config().blocking_trigger.empty()) {
        filter.mark_missed(*trigger);
      }
      return;
    }
  }
  unblocked_versions_ = versions;
}

std::optional<std::string> SourceFollower::out_of_sync(PagedFilter& filter) {
  const Config& config = filter.config();
  if (const std::string& trigger = config.blocking_trigger; !trigger.empty()) {
    return "rows of " + quoted_text(source()) + " were written while the AFTER trigger " +
           quoted_text(trigger) +
           " could keep their keys from being added (drop that trigger or make it BEFORE, then run "
           "the command 'rebuild')";
  }
  if (schema_check_.is_passed(source_)) {
    return std::nullopt;
  }
  if (auto problem = changed_objects(filter)) {
    return problem;
  }
  if (auto problem = blocking_trigger_problem(filter)) {
    return problem;
  }
  comparison_->refresh();
  schema_check_.set_passed(source_);
  return std::nullopt;
}

// Returns which of triggers, guard index and change log are not as they were made.
std::optional<std::string> SourceFollower::changed_objects(PagedFilter& filter) {
  constexpr std::string_view kMayMiss = ", so keys may be missing from the filter (";
  const Config& config = filter.config();
  const std::string triggers = "the triggers of source " + quoted_text(source());
  if (!triggers_.refresh_names_and_check(filter.table(), config.trigger_version)) {
    return triggers + " are missing or have changed" + std::string(kMayMiss) +
           std::string(kRebuildOrDropFixes) + ")";
  }
  if (!has_guard(config)) {
    return "the index " + quoted_text(config.guard_index) + " of source " + quoted_text(source()) +
           " is missing or has changed" + std::string(kMayMiss) + std::string(kRebuildFixes) + ")";
  }
  if (config.has_log() && !filter.has_log_for(columns().size())) {
    return "the table " + quoted_text(filter.table() + std::string(ChangeLog::kSuffix)) +
           " is missing or has changed" + std::string(kMayMiss) +
           "drop that table if it exists, then run the command 'rebuild')";
  }
  return std::nullopt;
}

// With writers=any no trigger can keep keys from being added.
std::optional<std::string> SourceFollower::blocking_trigger_problem(PagedFilter& filter) const {
  if (filter.config().has_log()) {
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
  if (const auto problem = changed_objects(filter)) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, *problem);
  }
  source_.for_each_key([&](const sqlite::Value& value) {
    if (!filter.may_contain(Key(value).hash(filter.shape()))) {
      throw SqliteError(SQLITE_CORRUPT_VTAB,
                        "the source has " + value.describe() + ", which the filter does not have");
    }
  });
}

void SourceFollower::fill(PagedFilter& filter, const Config& config,
                          const PagedFilter::Add& add) const {
  const Shape shape = filter.shape();
  bool marker_added = false;
  source_.for_each_key([&](const sqlite::Value& value) {
    const Key key(value);
    add(key.hash(shape));
    if (!marker_added && key.is_noncanonical_number()) {
      marker_added = true;
      add(noncanonical_marker(shape));
    }
  });
  if (config.has_log()) {
    filter.make_log(columns().size());
  }
}

std::uint64_t SourceFollower::count_keys(Collation collation) const {
  Cardinality keys;
  Shape shape;
  shape.collation = collation;
  std::uint64_t rows = 0;
  source_.for_each_key([&](const sqlite::Value& value) {
    keys.add(Key(value).hash(shape));
    ++rows;
  });
  // An attacker could choose keys that raise the estimate, so the number of rows is the upper
  // bound.
  return std::min(rows, static_cast<std::uint64_t>(std::llround(keys.estimate())));
}

}  // namespace bloom
