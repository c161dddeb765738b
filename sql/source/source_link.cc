#include "sql/source/source_link.h"

#include <algorithm>

#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {

using sqlite::execute;
using sqlite::quoted_name;
using sqlite::quoted_text;

namespace {

bool is_same(const std::string& a, const std::string& b) {
  return sqlite3_stricmp(a.c_str(), b.c_str()) == 0;
}

// An object of the TEMP schema hides one of the schema of the source.
bool has_table_or_view(const Source& source, const std::string& name) {
  const std::string named = " WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE";
  const sqlite::Statement select(source.db(),
                                 "SELECT 1 FROM " + source.qualified("sqlite_master") + named +
                                     " UNION ALL SELECT 1 FROM sqlite_temp_master" + named);
  return sqlite::Execution(select).bind(1, name).step();
}

// Returns what was renamed if something else has the accepted name now: another table, or another
// column of the source. Queries by that name then mean other rows. nullopt if nothing has.
std::optional<std::string> replaced_name(const Source& source, const SourceNames& from) {
  const auto renamed = [](const char* kind, const std::string& from, const std::string& to) {
    return std::string(kind) + quoted_text(from) + " was renamed to " + quoted_text(to) +
           ", and something else has its old name";
  };
  const SourceNames& to = source.names();
  if (!is_same(from.table, to.table) && has_table_or_view(source, from.table)) {
    return renamed("the source ", from.table, to.table);
  }
  for (std::size_t i = 0; i < std::min(from.columns.size(), to.columns.size()); ++i) {
    if (!is_same(from.columns[i], to.columns[i]) && source.has_column(from.columns[i])) {
      return renamed("the column ", from.columns[i], to.columns[i]);
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view SourceLink::side_table_sql(const StoredSchema& stored) const {
  return stored.sql_of("table", side_table(stored.table()));
}

bool SourceLink::has_side_table(const StoredSchema& stored) const {
  return side_table_sql(stored).ends_with(triggers_.side().columns);
}

void SourceLink::empty_side_table(const std::string& table) const {
  const std::string name = source_.qualified(side_table(table));
  execute(source_.db(), has_side_table(triggers_.read_stored(table))
                            ? "DELETE FROM " + name
                            : "CREATE TABLE " + name + triggers_.side().columns);
}

LinkedObjects SourceLink::create(const std::string& table, std::uint64_t trigger_set_number) {
  LinkedObjects made{trigger_set_number, guard_.make(table)};
  empty_side_table(table);
  triggers_.accept_source(table);
  triggers_.install(table, trigger_set_number);
  return made;
}

LinkedObjects SourceLink::restore(const std::string& table, const LinkedObjects& objects,
                                  std::uint64_t trigger_set_number, bool triggers_are_current) {
  const bool guarded = guard_.exists(objects.guard_index);
  LinkedObjects made{trigger_set_number, guarded ? objects.guard_index : guard_.make(table)};
  empty_side_table(table);
  const StoredSchema stored = triggers_.read_stored(table);
  if (!triggers_are_current || triggers_.source_was_replaced(stored) ||
      !triggers_.sentinel_is_newest(stored, made.guard_index)) {
    triggers_.accept_source(table);
    triggers_.uninstall(table);
    triggers_.install(table, trigger_set_number);
  }
  schema_may_have_changed();
  return made;
}

void SourceLink::drop(const std::string& table, const std::string& guard_index) {
  triggers_.uninstall(table);
  guard_.drop(guard_index.empty() ? guard_.find(table) : guard_index);
  execute(source_.db(), "DROP TABLE IF EXISTS " + source_.qualified(side_table(table)));
}

// ALTER TABLE has already renamed the target in triggers that write to the virtual table, except
// under PRAGMA legacy_alter_table.
void SourceLink::rename(std::string_view old_name, const std::string& new_name,
                        const LinkedObjects& objects, const std::function<void()>& rename_tables) {
  const std::string table(old_name);  // a copy: rename_tables() may change what it refers to
  const std::uint64_t trigger_set_number = objects.trigger_set_number;
  const StoredSchema stored = triggers_.read_stored(table);
  const bool has_triggers =
      triggers_.refresh_names_and_check(stored, new_name, trigger_set_number) ||
      triggers_.refresh_names_and_check(stored, table, trigger_set_number);
  if (const auto problem =
          has_triggers ? problem_beside_triggers(table, objects) : missing_triggers()) {
    fail(*problem);
  }
  triggers_.require_names_are_free(new_name, trigger_set_number);
  triggers_.uninstall(table);
  rename_tables();
  if (!side_table_sql(triggers_.read_stored(table)).empty()) {
    execute(source_.db(), "ALTER TABLE " + source_.qualified(side_table(table)) + " RENAME TO " +
                              quoted_name(side_table(new_name)));
  }
  // Who renames this table after the source means the source by its new name.
  triggers_.accept_names(new_name);
  triggers_.install(new_name, trigger_set_number);
  schema_may_have_changed();
}

// Else a command would take NULL for a key, and lose it.
void SourceLink::require_readable(const std::string& table) const {
  const SourceNames& names = source_.names();
  if (!names.columns.empty()) {
    sqlite::require_readable(source_.db(), source_.schema(), names.table, source_.columns_sql("t"));
  }
  sqlite::require_readable(source_.db(), source_.schema(), side_table(table));
}

void SourceLink::require_names_not_taken() const {
  if (const auto problem = problem_of_names()) {
    fail(*problem);
  }
}

void SourceLink::require_names_and_columns() const {
  require_names_not_taken();
  if (const auto column = source_.missing_column()) {
    fail("the source " + quoted_text(source_.names().table) + " has no column " +
         quoted_text(*column) +
         " any more (rename the column back; or DROP this table, and create it again with the new "
         "name of the column)");
  }
}

std::optional<std::string> SourceLink::problem_of_names() const {
  if (const auto renamed = replaced_name(source_, triggers_.accepted_names())) {
    return *renamed +
           ", so queries may miss rows (drop this table and create it again for the one that you "
           "mean, or rename it back; if this table shall follow the renamed one, rename this table "
           "as well)";
  }
  return std::nullopt;
}

void SourceLink::require_same_columns(const std::string& table) const {
  require_names_not_taken();
  if (const auto problem = problem_of_columns(table)) {
    fail(*problem);
  }
}

std::optional<std::string> SourceLink::problem_of_columns(const std::string& table) const {
  const auto changed = declared_.changed(source_);
  return changed ? std::optional(reopening_message(*changed, table)) : std::nullopt;
}

std::optional<std::string> SourceLink::check(
    const std::string& table, const LinkedObjects& objects,
    const std::function<std::optional<std::string>()>& and_then) {
  if (schema_check_.still_passes(source_)) {
    return std::nullopt;
  }
  const auto look = [&] {
    const auto problem = problem_of_objects(table, objects);
    return problem ? problem : problem_of_names();
  };
  auto problem = look();
  if (problem) {
    // SQLite may have opened the table within an ALTER TABLE that has failed since. What was read
    // then is not of this schema, and the state does not tell.
    triggers_.forget();
    problem = look();
  }
  problem = problem ? problem : problem_of_columns(table);
  if (!problem && and_then) {
    problem = and_then();
  }
  if (!problem) {
    schema_check_.set_passed(source_);
    triggers_.forget();
  }
  return problem;
}

std::optional<std::string> SourceLink::problem_of_objects(const std::string& table,
                                                          const LinkedObjects& objects) {
  const StoredSchema before = triggers_.stored(table);
  const bool has_triggers =
      triggers_.refresh_names_and_check(before, table, objects.trigger_set_number);
  return has_triggers ? problem_beside_triggers(table, objects) : missing_triggers();
}

std::string SourceLink::missing_triggers() const {
  return problem("the triggers of source " + quoted_text(source_.names().table) +
                     " are missing or have changed",
                 "the command 'rebuild' fixes that; if the source no longer exists, run DROP "
                 "TABLE");
}

std::string SourceLink::problem(const std::string& what, std::string_view fix) const {
  return what + ", so " + consequence_ + " (" + std::string(fix) + ")";
}

std::optional<std::string> SourceLink::problem_beside_triggers(const std::string& table,
                                                               const LinkedObjects& objects) {
  if (!triggers_.has_sentinel(objects.trigger_set_number)) {
    return std::nullopt;  // version 1.0 made no guard index and no side table either
  }
  const StoredSchema stored = triggers_.stored(table);
  if (!guard_.is_made_by(stored.sql_of("index", objects.guard_index), objects.guard_index)) {
    return problem("the index " + quoted_text(objects.guard_index) + " of source " +
                       quoted_text(source_.names().table) + " is missing or has changed",
                   "the command 'rebuild' fixes that");
  }
  const std::string side = quoted_text(side_table(table));
  if (!has_side_table(stored)) {
    return problem("the table " + side + " is missing or has changed",
                   "drop that table if it exists, then run the command 'rebuild'");
  }
  if (triggers_.source_was_replaced(stored)) {
    return problem("the source " + quoted_text(source_.names().table) + " was created again",
                   "the command 'rebuild' fixes that");
  }
  if (!triggers_.sentinel_is_newest(stored, objects.guard_index)) {
    return problem("the index " + quoted_text(objects.guard_index) + " or the table " + side +
                       " was created again",
                   "the command 'rebuild' fixes that");
  }
  if (const auto name = triggers_.object_on_side_table(stored)) {
    return problem("the trigger or index " + quoted_text(*name) + " on the table " + side +
                       " may keep changes from being recorded",
                   "drop it, then run the command 'rebuild'");
  }
  return std::nullopt;
}

}  // namespace bloom
