#include "sql/table/source_follower.h"

#include <algorithm>
#include <cmath>

#include "core/operations/cardinality.h"
#include "core/support/error.h"
#include "sql/arguments.h"
#include "sql/sqlite/guard.h"

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
  filter.create({.layers = {options.header(count_keys(options.collation()))},
                 .triggers = Source::kTriggers,
                 .guard = source_.make_guard(filter.table())},
                [&](const auto& add) { fill(filter, add); });
  source_.install(filter.table(), Source::kTriggers);
}

// Triggers that are made while a statement changes the source do not see its later rows.
void SourceFollower::require_no_other_writer() const {
  if (source_.is_being_written()) {
    throw Error(Error::Kind::invalid,
                "cannot begin to follow " + quoted_text(source()) +
                    " while another statement of this connection is writing (finish that statement "
                    "first)");
  }
}

// Version 1.0 made no index.
bool SourceFollower::has_guard(const Config& config) const {
  return config.triggers < Source::kTriggers || source_.has_guard(config.guard);
}

void SourceFollower::drop(PagedFilter& filter) {
  source_.uninstall(filter.table());
  source_.drop_guard(filter.stored_guard());
  filter.drop();
}

void SourceFollower::rename(PagedFilter& filter, const char* name) {
  const std::string old_name = filter.table();
  const std::uint64_t set = filter.config().triggers;
  // ALTER TABLE has changed the triggers already, unless it is to be as it was in old versions.
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
  const bool installed = before.triggers == Source::kTriggers &&
                         source_.refresh_from_triggers(filter.table(), Source::kTriggers) &&
                         !source_.blocking_trigger(filter.table());
  const bool guarded = source_.has_guard(before.guard);
  if (!installed || !guarded) {
    require_no_other_writer();
  }
  source_.require_fit(options.collation());
  filter.remake({.layers = {options.header(count_keys(options.collation()))},
                 .triggers = Source::kTriggers,
                 .guard = guarded ? before.guard : source_.make_guard(filter.table())},
                [&](const auto& add) { fill(filter, add); });
  if (!installed) {
    source_.uninstall(filter.table());
    source_.install(filter.table(), Source::kTriggers);
  }
}

bool SourceFollower::is_change(std::string_view command) {
  return command == Source::kAdd || command == Source::kRemove || command == Source::kExpect;
}

// Takes no account of the conflict rule of the statement that fired the trigger.
void SourceFollower::change(PagedFilter& filter, std::string_view command,
                            const sqlite::Value& value) {
  if (command != Source::kRemove && !filter.is_in_bulk()) {
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
    fail("the filter does not have the key " + value.in_words() +
         ", which leaves the source: filter and source are out of sync (" +
         std::string(kRebuildFixes) + ")");
  }
}

// Called from BEFORE triggers, which run whenever a row is going to change. What is found is
// stored: the trigger may be gone when the filter is next asked.
void SourceFollower::look_for_blocking_triggers(PagedFilter& filter) {
  const Versions versions{source_.schema_version(), source_.temp_schema_version()};
  if (clear_ == versions) {
    return;
  }
  source_.refresh_from_triggers(filter.table(), filter.config().triggers);
  if (source_.needs_after()) {
    auto trigger = source_.blocking_trigger(filter.table());
    trigger = trigger ? trigger : source_.blocking_temp_trigger();
    if (trigger) {
      if (filter.config().missed.empty()) {
        filter.mark_missed(*trigger);
      }
      return;
    }
  }
  clear_ = versions;
}

void SourceFollower::require_in_sync(PagedFilter& filter) {
  if (const std::string& trigger = filter.config().missed; !trigger.empty()) {
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
  if (!source_.refresh_from_triggers(filter.table(), config.triggers)) {
    fail(triggers + " are missing or have changed, so keys may be missing from the filter (" +
         std::string(kRebuildOrDropFixes) + ")");
  }
  if (!has_guard(config)) {
    throw Error(Error::Kind::invalid, "the index " + quoted_text(config.guard) + " of source " +
                                          quoted_text(source()) +
                                          " is missing (the command 'rebuild' makes it again)");
  }
  if (const auto trigger = source_.blocking_trigger(filter.table())) {
    fail("the AFTER trigger " + quoted_text(*trigger) + " runs before " + triggers +
         " and may keep them from running (" + std::string(kRebuildFixes) + ")");
  }
  checked_ = true;
  checked_version_ = source_.schema_version();
}

// SQLite makes new objects of all tables when it rolls a change of the schema back, so that a
// version cannot come again with another schema.
bool SourceFollower::is_checked() {
  checked_ = checked_ || checked_version_ == source_.schema_version();
  return checked_;
}

void SourceFollower::check(PagedFilter& filter) {
  const Config& config = filter.config();
  if (!source_.refresh_from_triggers(filter.table(), config.triggers) || !has_guard(config)) {
    throw SqliteError(SQLITE_CORRUPT_VTAB,
                      "the triggers of the source, or its index, are not as they were made");
  }
  source_.for_each_key([&](const sqlite::Value& value) {
    if (!filter.may_contain(Key(value).hash(filter.shape()))) {
      throw SqliteError(SQLITE_CORRUPT_VTAB,
                        "the source has " + value.in_words() + ", which the filter does not have");
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
  // Somebody may have chosen the keys to look like more.
  return std::min(rows, static_cast<std::uint64_t>(std::llround(keys.estimate())));
}

}  // namespace bloom
