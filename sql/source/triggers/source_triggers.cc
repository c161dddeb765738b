#include "sql/source/triggers/source_triggers.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "sql/source/change_log.h"
#include "sql/source/triggers/trigger_parser.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

constexpr std::string_view kSentinel = "_last";
constexpr std::array<std::string_view, 6> kSuffixes = {kBeforeInsertSuffix, kBeforeUpdateSuffix,
                                                       kAfterInsertSuffix,  kAfterUpdateSuffix,
                                                       kAfterDeleteSuffix,  kSentinel};
constexpr std::string_view kSentinelBody =
    " AS SELECT 'this view is newer than the triggers' AS note";
constexpr std::string_view kNewerSource = ", 1 AS newer_source";
constexpr std::string_view kRenamed = ", 1 AS renamed";
constexpr std::string_view kNamesInConfig = "names";

// Returns the columns of `row` ("old" or "new") that a trigger uses, each written row."column". Our
// triggers quote every name, and SQLite keeps the quotes when it renames a column.
std::vector<std::string> columns_of(std::string_view row, std::string_view trigger) {
  const std::string before = std::string(row).append(".");
  std::vector<std::string> columns;
  std::size_t quote = 0;
  while ((quote = trigger.find_first_of("\"'")) != std::string_view::npos) {
    const bool is_column = trigger.substr(0, quote).ends_with(before);
    trigger.remove_prefix(quote);
    const std::size_t size = sqlite::quoted_size(trigger);
    if (is_column) {
      columns.push_back(sqlite::unquoted(trigger.substr(0, size)).value_or(""));
    }
    trigger.remove_prefix(size);
  }
  return columns;
}

}  // namespace

// A number that this build does not know is of a changed config: any set then differs.
const TriggerSet& SourceTriggers::set_of(std::uint64_t trigger_set_number) const {
  const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const TriggerSet& set) {
    return set.number == trigger_set_number;
  });
  return found == sets_.end() ? sets_.front() : *found;
}

ShadowTables SourceTriggers::config_of(const std::string& table) const {
  return {source_.db(), source_.schema(), table, {}};
}

void SourceTriggers::accept_names(const std::string& table) {
  accepted_.names = source_.names();
  accepted_.names.columns.resize(source_.names_from_options().columns.size());
  std::string list = quoted_name(accepted_.names.table);
  for (const std::string& column : accepted_.names.columns) {
    list.append(",").append(quoted_name(column));
  }
  config_of(table).set_text_in_config(kNamesInConfig, list);
}

Trigger SourceTriggers::sentinel(const std::string& table, const Accepted& accepted) const {
  const std::string name = table + std::string(kSentinel);
  std::string sql = "CREATE VIEW " + quoted_name(name) + std::string(kSentinelBody);
  sql.append(accepted.newer_source ? kNewerSource : "");
  sql.append(accepted.names != source_.names_from_options() ? kRenamed : "");
  return {name, sql};
}

// The config outlives a tool that drops all views. If it is damaged, the sentinel is not as it
// should be, because it says that there are other names.
SourceTriggers::Accepted SourceTriggers::stored_accepted(const StoredSchema& stored) const {
  const std::string_view sql = stored.sql_of("view", stored.table() + std::string(kSentinel));
  const bool has_sentinel = !sql.empty();
  Accepted accepted{source_.names_from_options(), sql.find(kNewerSource) != std::string_view::npos};
  if (has_sentinel && sql.find(kRenamed) == std::string_view::npos) {
    return accepted;
  }
  const std::string list = config_of(stored.table()).text_in_config(kNamesInConfig);
  std::vector<std::string> names;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t size = sqlite::quoted_size(rest);
    names.push_back(sqlite::unquoted(rest.substr(0, size)).value_or(""));
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  if (names.size() == 1 + accepted.names.columns.size()) {
    accepted.names = {names.front(), {names.begin() + 1, names.end()}};
  }
  return accepted;
}

const StoredObject* SourceTriggers::find_sentinel(const StoredSchema& stored) const {
  return find(stored, "view", sentinel(stored.table(), stored_accepted(stored)));
}

void SourceTriggers::install(const std::string& table, std::uint64_t trigger_set_number) const {
  const TriggerSet& set = set_of(trigger_set_number);
  const std::vector<Trigger> wanted = set.make(source_, table, table);
  assert(std::all_of(wanted.begin(), wanted.end(),
                     [&](const Trigger& trigger) { return writes_to(table, trigger.sql); }));
  for (const Trigger& trigger : wanted) {
    create(trigger);
  }
  if (set.has_sentinel) {
    create(sentinel(table, accepted_));
  }
}

void SourceTriggers::require_names_are_free(const std::string& table,
                                            std::uint64_t trigger_set_number) const {
  for (const std::string& name : {side_.name(table), table + std::string(kSentinel)}) {
    require_name_is_free(source_.db(), source_.schema(), name);
  }
  for (const Trigger& trigger : set_of(trigger_set_number).make(source_, table, table)) {
    require_name_is_free(source_.db(), source_.schema(), trigger.name, sqlite::Named::trigger);
  }
}

void SourceTriggers::create(const Trigger& object) const {
  const std::size_t name = object.sql.find('"');
  sqlite::execute(source_.db(), object.sql.substr(0, name) + quoted_name(source_.schema()) + "." +
                                    object.sql.substr(name));
}

// Other tables may have triggers of the same names. A trigger is dropped only if it writes to the
// virtual table or its side table, or belongs to the source.
void SourceTriggers::uninstall(const std::string& table) const {
  const StoredSchema stored = read_stored(table);
  for (const std::string_view suffix : kSuffixes) {
    const std::string name = table + std::string(suffix);
    const StoredObject* const trigger = stored.find("trigger", name);
    if (suffix == kSentinel) {
      if (find_sentinel(stored) != nullptr) {
        sqlite::execute(source_.db(), "DROP VIEW " + source_.qualified(name));
      }
    } else if (trigger != nullptr &&
               (writes_to(table, trigger->sql) ||
                StoredSchema::is_same(trigger->table, source_.names().table))) {
      sqlite::execute(source_.db(), "DROP TRIGGER " + source_.qualified(name));
    }
  }
}

// Returns the stored object that equals this one; null if there is none.
const StoredObject* SourceTriggers::find(const StoredSchema& stored, std::string_view type,
                                         const Trigger& trigger) {
  const StoredObject* const found = stored.find(type, trigger.name);
  return found != nullptr && sqlite::same_sql(found->sql, trigger.sql) ? found : nullptr;
}

// Takes the names from the trigger of the set that has them: its table, and the columns of `old`
// that it names first. Returns the triggers of the set with these names. If that trigger is not as
// install() makes it, takes the names that are accepted and returns null.
const std::vector<Trigger>* SourceTriggers::take_names(const StoredSchema& stored,
                                                       const std::string& target,
                                                       const TriggerSet& set) {
  accepted_ = stored_accepted(stored);
  if (set.names_suffix.empty()) {
    made_.reset();
    return &make(set, stored.table(), target);
  }
  const std::string name = stored.table() + std::string(set.names_suffix);
  const StoredObject* const trigger = stored.find("trigger", name);
  std::vector<std::string> columns =
      trigger == nullptr ? std::vector<std::string>() : columns_of("old", trigger->sql);
  if (!columns.empty()) {
    columns.resize(std::min(columns.size(), source_.names().columns.size()));
    source_.set_names({trigger->table, std::move(columns)});
    const std::vector<Trigger>& made = make(set, stored.table(), target);
    if (std::any_of(made.begin(), made.end(), [&](const Trigger& own) {
          return own.name == name && find(stored, "trigger", own) != nullptr;
        })) {
      return &made;
    }
  }
  source_.set_names(accepted_.names);
  return nullptr;
}

// The first check of a connection finds the triggers that were made to find the names.
const std::vector<Trigger>& SourceTriggers::make(const TriggerSet& set, const std::string& table,
                                                 const std::string& target) {
  Made wanted{source_.reader().state(), source_.names(), set.number, table, target, {}};
  if (!made_ || !made_->is_for(wanted)) {
    wanted.triggers = set.make(source_, table, target);
    made_ = std::move(wanted);
  }
  return made_->triggers;
}

void SourceTriggers::find_names(const std::string& table) {
  const StoredSchema stored = this->stored(table);  // a copy: make() may read again
  accepted_ = stored_accepted(stored);
  for (const TriggerSet& set : sets_) {
    if (set.names_suffix.empty() || take_names(stored, table, set)) {
      return;
    }
  }
}

bool SourceTriggers::refresh_names_and_check(const StoredSchema& stored, const std::string& target,
                                             std::uint64_t trigger_set_number) {
  const TriggerSet& set = set_of(trigger_set_number);
  const std::vector<Trigger>* const wanted = take_names(stored, target, set);
  if (wanted == nullptr) {
    return false;
  }
  const StoredObject* const last = find_sentinel(stored);
  return std::all_of(wanted->begin(), wanted->end(), [&](const Trigger& trigger) {
    const StoredObject* const found = find(stored, "trigger", trigger);
    return found != nullptr &&
           (!set.has_sentinel || (last != nullptr && found->rowid < last->rowid));
  });
}

bool SourceTriggers::sentinel_is_newest(const StoredSchema& stored,
                                        const std::string& guard) const {
  const StoredObject* const last = stored.find("view", stored.table() + std::string(kSentinel));
  const std::string side = side_.name(stored.table());
  return last != nullptr && std::none_of(stored.objects().begin(), stored.objects().end(),
                                         [&](const StoredObject& object) {
                                           return object.rowid > last->rowid &&
                                                  (StoredSchema::is_same(object.name, side) ||
                                                   StoredSchema::is_same(object.name, guard));
                                         });
}

bool SourceTriggers::source_is_newer_than_side(const StoredSchema& stored) const {
  const StoredObject* const source = stored.find("table", source_.names().table);
  const StoredObject* const side = stored.find("table", side_.name(stored.table()));
  return source != nullptr && side != nullptr && source->rowid > side->rowid;
}

// The index of a UNIQUE column belongs to the table as it was made. An AFTER trigger is allowed: it
// can run 'merge' when there are many changes. It must not change the recorded rows, nor write to
// the source: SQLite does not run the trigger that has appended the row a second time, except under
// PRAGMA recursive_triggers.
bool SourceTriggers::may_keep_rows_out(const StoredSchema& stored, std::string_view sql) const {
  return !sql.empty() &&
         (trigger_time(sql) != TriggerTime::after ||
          sqlite::triggers_may_write_to(source_.db(), source_.schema(), side_.name(stored.table()),
                                        source_.names().table));
}

std::optional<std::string> SourceTriggers::object_on_side_table(const StoredSchema& stored) const {
  const std::string side = side_.name(stored.table());
  for (const StoredObject& object : stored.objects()) {
    if ((object.type == "index" || object.type == "trigger") &&
        StoredSchema::is_same(object.table, side) && may_keep_rows_out(stored, object.sql)) {
      return object.name;
    }
  }
  if (!sqlite::has_temp_schema(source_.db())) {
    return std::nullopt;
  }
  const Statement select(source_.db(),
                         "SELECT name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
                         " AND tbl_name = ?1 COLLATE NOCASE");
  Execution run(select);
  run.bind(1, side);
  while (run.step()) {
    if (run.type(1) == SQLITE_TEXT && may_keep_rows_out(stored, run.value(1).text())) {
      return std::string(run.value(0).text());
    }
  }
  return std::nullopt;
}

// Triggers of other virtual tables of ours fail as a whole with their statement, unless a trigger
// on the table that they write to raises FAIL. A text that only looks like theirs counts as another
// trigger.
bool SourceTriggers::is_harmless(std::string_view name, std::string_view sql) const {
  for (const std::string_view suffix : kSuffixes) {
    if (!name.ends_with(suffix)) {
      continue;
    }
    const std::string table(name.substr(0, name.size() - suffix.size()));
    if (!only_writes_to(table, sql) ||
        !makes_own_table(sqlite::virtual_table_sql(source_.db(), source_.schema(), table))) {
      continue;
    }
    const auto names = [&](const std::string& side_table) {
      return sql.find(sqlite::quoted_name(side_table)) != std::string_view::npos;
    };
    const auto may_fail = [&](const std::string& side_table) {
      return sqlite::change_may_fail_halfway(source_.db(), source_.schema(), side_table);
    };
    const std::string log = table + std::string(ChangeLog::kSuffix);
    const std::string blocks = table + std::string(kChangedSuffix);
    const bool is_log = makes_log(sqlite::stored_sql(source_.db(), source_.schema(), "table", log));
    return (!names(log) || (is_log && !may_fail(log))) && (!names(blocks) || !may_fail(blocks));
  }
  return false;
}

// Returns the name of the first trigger in the rows (name, sql) of `run` that may run AFTER and
// keep others from running. A TEMP trigger may mean a TEMP table by the name of one of ours.
std::optional<std::string> SourceTriggers::first_blocking_trigger(Execution& run,
                                                                  bool is_temp) const {
  const bool may_be_ours = !is_temp || sqlite3_stricmp(source_.schema().c_str(), "temp") == 0;
  while (run.step()) {
    const std::string name(run.value(0).text());
    const std::string sql(run.value(1).text());
    if (trigger_time(sql) != TriggerTime::before && !(may_be_ours && is_harmless(name, sql))) {
      return name;
    }
  }
  return std::nullopt;
}

// A filter that gets keys from AFTER triggers always has the trigger _after_insert.
std::optional<std::string> SourceTriggers::blocking_trigger(const std::string& table) const {
  const std::string triggers = source_.qualified("sqlite_master") + " WHERE type = 'trigger'";
  const Statement select(source_.db(),
                         "SELECT name, sql FROM " + triggers +
                             " AND tbl_name = ?1 COLLATE NOCASE AND rowid > (SELECT rowid FROM " +
                             triggers + " AND name = ?2 COLLATE NOCASE)");
  const std::string first = table + std::string(kAfterInsertSuffix);
  Execution run(select);
  run.bind(1, source_.names().table).bind(2, first);
  return first_blocking_trigger(run, /*is_temp=*/false);
}

// Any TEMP trigger that may run AFTER counts. A TEMP trigger on a table of the same name in another
// schema counts as well; that is a false alarm.
std::optional<std::string> SourceTriggers::blocking_temp_trigger() const {
  const Statement select(source_.db(),
                         "SELECT name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
                         " AND tbl_name = ?1 COLLATE NOCASE");
  Execution run(select);
  run.bind(1, source_.names().table);
  return first_blocking_trigger(run, /*is_temp=*/true);
}

}  // namespace bloom
