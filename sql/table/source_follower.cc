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
    "the command 'rebuild' fixes that; if the source is gone, only DROP TABLE is left";

}  // namespace

void SourceFollower::create(PagedFilter& filter, const Options& options) {
  require_no_other_writer();
  source_.require_fit(options.collation());
  filter.create({.layers = Layers(options.header(count_keys(options.collation()))),
                 .trigger_version = Source::kTriggerVersion,
                 .guard_index = source_.make_guard(filter.table())},
                [&](const auto& add) { fill(filter, add); });
  source_.install(filter.table(), Source::kTriggerVersion);
}

// A running statement does not fire triggers that are created while it runs, so its later rows
// would be missed.
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
  return config.trigger_version < Source::kTriggerVersion || source_.has_guard(config.guard_index);
}

void SourceFollower::drop(PagedFilter& filter) {
  source_.uninstall(filter.table());
  source_.drop_guard(filter.stored_guard());
  filter.drop();
}

void SourceFollower::rename(PagedFilter& filter, const char* name) {
  const std::string old_name = filter.table();
  const std::uint64_t set = filter.config().trigger_version;
  // ALTER TABLE has already renamed the target in the triggers, except under PRAGMA
  // legacy_alter_table.
  const bool installed = source_.refresh_from_triggers(old_name, name, set) ||
                         source_.refresh_from_triggers(old_name, set);
  filter.rename(name);
  source_.uninstall(old_name);
  if (installed) {
    source_.install(name, set);
  }
}

void SourceFollower::rebuild(PagedFilter& filter, const Options& options) {
  const Config before = filter.config();
  const bool installed = before.trigger_version == Source::kTriggerVersion &&
                         source_.refresh_from_triggers(filter.table(), Source::kTriggerVersion) &&
                         !source_.blocking_trigger(filter.table());
  const bool guarded = source_.has_guard(before.guard_index);
  if (!installed || !guarded) {
    require_no_other_writer();
  }
  source_.require_fit(options.collation());
  filter.rebuild({.layers = Layers(options.header(count_keys(options.collation()))),
                  .trigger_version = Source::kTriggerVersion,
                  .guard_index = guarded ? before.guard_index : source_.make_guard(filter.table())},
                 [&](const auto& add) { fill(filter, add); });
  if (!installed) {
    source_.uninstall(filter.table());
    source_.install(filter.table(), Source::kTriggerVersion);
  }
}

bool SourceFollower::is_change(std::string_view command) {
  return command == Source::kAdd || command == Source::kRemove || command == Source::kExpect;
}

// Ignores the conflict rule (OR IGNORE, OR REPLACE) of the statement that fired the trigger.
void SourceFollower::change(PagedFilter& filter, std::string_view command,
                            const sqlite::Value& value) {
  if (command != Source::kRemove && !filter.is_deferring()) {
    look_for_blocking_triggers(filter);
  }
  const Key key(value);
  if (key.is_null() || command == Source::kExpect) {
    return;
  }
  const Hash hash = key.hash(filter.shape());
  if (command == Source::kAdd) {
    filter.add_deferred(hash);
  } else if (filter.shape().kind != Kind::counting) {
    filter.note_stale_key();
  } else if (!filter.remove(hash)) {
    fail("the filter does not have the key " + value.describe() +
         ", which leaves the source: filter and source are out of sync (" +
         std::string(kRebuildFixes) + ")");
  }
}

// Called from BEFORE triggers, which run for every row that changes. The finding is stored in the
// config, because the blocking trigger may be gone at the next lookup.
void SourceFollower::look_for_blocking_triggers(PagedFilter& filter) {
  const Versions versions{source_.schema_version(), source_.temp_schema_version()};
  if (unblocked_versions_ == versions) {
    return;
  }
  source_.refresh_from_triggers(filter.table(), filter.config().trigger_version);
  if (source_.needs_after()) {
    auto trigger = source_.blocking_trigger(filter.table());
    trigger = trigger ? trigger : source_.blocking_temp_trigger();
    if (trigger) {
      if (filter.config().blocking_trigger.empty()) {
        filter.mark_missed(*trigger);
      }
      return;
    }
  }
  unblocked_versions_ = versions;
}

void SourceFollower::require_in_sync(PagedFilter& filter) {
  if (const std::string& trigger = filter.config().blocking_trigger; !trigger.empty()) {
    throw Error(Error::Kind::invalid,
                "rows of " + quoted_text(source()) + " were written while the AFTER trigger " +
                    quoted_text(trigger) +
                    " could keep their keys from being added (drop that trigger or make it BEFORE, "
                    "then run the command 'rebuild')");
  }
  if (is_checked()) {
    return;
  }
  const std::string triggers = "the triggers of source " + quoted_text(source());
  const Config& config = filter.config();
  if (!source_.refresh_from_triggers(filter.table(), config.trigger_version)) {
    fail(triggers + " are missing or have changed, so keys may be missing from the filter (" +
         std::string(kRebuildOrDropFixes) + ")");
  }
  if (!has_guard(config)) {
    throw Error(Error::Kind::invalid, "the index " + quoted_text(config.guard_index) +
                                          " of source " + quoted_text(source()) +
                                          " is missing (the command 'rebuild' makes it again)");
  }
  if (const auto trigger = source_.blocking_trigger(filter.table())) {
    fail("the AFTER trigger " + quoted_text(*trigger) + " runs before " + triggers +
         " and may keep them from running (" + std::string(kRebuildFixes) + ")");
  }
  checked_ = true;
  checked_version_ = source_.schema_version();
}

// The same version number cannot mean another schema. SQLite reuses numbers only after the rollback
// of a schema change, and then it makes new objects of all virtual tables.
bool SourceFollower::is_checked() {
  checked_ = checked_ || checked_version_ == source_.schema_version();
  return checked_;
}

void SourceFollower::check(PagedFilter& filter) {
  const Config& config = filter.config();
  if (!source_.refresh_from_triggers(filter.table(), config.trigger_version) ||
      !has_guard(config)) {
    throw SqliteError(SQLITE_CORRUPT_VTAB,
                      "the triggers of the source, or its index, are not as they were made");
  }
  source_.for_each_key([&](const sqlite::Value& value) {
    if (!filter.may_contain(Key(value).hash(filter.shape()))) {
      throw SqliteError(SQLITE_CORRUPT_VTAB,
                        "the source has " + value.describe() + ", which the filter does not have");
    }
  });
}

void SourceFollower::fill(PagedFilter& filter, const PagedFilter::Add& add) const {
  const Shape shape = filter.shape();
  source_.for_each_key([&](const sqlite::Value& value) { add(Key(value).hash(shape)); });
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
