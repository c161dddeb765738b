#include "sql/table/source_triggers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sql/sqlite/sql_text.h"
#include "sql/table/change_log.h"
#include "sql/table/row_ranges.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

constexpr std::array<std::string_view, 5> kSuffixes = {
    "_before_insert", "_before_update", "_after_insert", "_after_update", "_after_delete"};

// Returns the columns of `row` ("old" or "new") that a trigger uses, each written row."column". Our
// triggers quote every name, and SQLite keeps the quotes when it renames a column.
std::vector<std::string> columns_of(std::string_view row, std::string_view trigger) {
  const std::string prefix = std::string(row).append(".\"");
  std::vector<std::string> columns;
  while (!trigger.empty()) {
    const bool column = trigger.starts_with(prefix);
    trigger.remove_prefix(column ? prefix.size() - 1 : 0);
    const std::size_t size = sqlite::token_size(trigger);
    if (column) {
      columns.push_back(sqlite::unquoted(trigger.substr(0, size)).value_or(""));
    }
    trigger.remove_prefix(size);
  }
  return columns;
}

// Part of the text of every trigger that writes commands to the bloom table `table`, appends to its
// change log, or notes changed ranges.
std::string command_columns(const std::string& table) {
  return std::string("(").append(quoted_name(table)).append(", key) VALUES (");
}
std::string log_columns(const std::string& table) {
  return quoted_name(table + std::string(ChangeLog::kSuffix)) + "(token, added, ";
}

std::string note_columns(const std::string& table) {
  return quoted_name(table + std::string(kChangedSuffix)) + "(first) ";
}

// Whether the trigger is one of the bloom table `table`.
bool writes_to(const std::string& table, std::string_view sql) {
  const auto contains = [&](const std::string& part) {
    return sql.find(part) != std::string_view::npos;
  };
  return contains(command_columns(table)) || contains(log_columns(table)) ||
         contains(note_columns(table));
}

// Returns whether a trigger looks like one that a bloom table has made, by its name and its text.
bool is_of_a_filter(std::string_view name, std::string_view sql) {
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](std::string_view suffix) {
    return name.ends_with(suffix) &&
           writes_to(std::string(name.substr(0, name.size() - suffix.size())), sql);
  });
}

// Ignores case. Also finds the word within quotes.
bool mentions(std::string_view sql, std::string_view word) {
  const auto is_same = [](char a, char b) { return sqlite3_strnicmp(&a, &b, 1) == 0; };
  return std::search(sql.begin(), sql.end(), word.begin(), word.end(), is_same) != sql.end();
}

// Returns the name of the first trigger in the rows (name, sql) of `run` that may run AFTER and
// that no bloom table has made.
std::optional<std::string> first_after_trigger(Execution& run) {
  while (run.step()) {
    const std::string_view name = run.value(0).text();
    const std::string_view sql = run.value(1).text();
    if (mentions(sql, "AFTER") && !is_of_a_filter(name, sql)) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

}  // namespace

struct SourceTriggers::Trigger {
  std::string name;
  std::string sql;  // as in sqlite_schema
  std::string source;

  Trigger(const std::string& table, std::string source_name, std::string_view suffix,
          const std::string& event, const std::string& body)
      : name(table + std::string(suffix)), source(std::move(source_name)) {
    sql = "CREATE TRIGGER " + quoted_name(name);
    sql.append(suffix.starts_with("_before") ? " BEFORE " : " AFTER ");
    sql.append(event).append(" BEGIN").append(body).append(" END");
  }
  explicit Trigger(const Execution& row)
      : name(row.value(0).text()), sql(row.value(1).text()), source(row.value(2).text()) {}
};

// UPDATE OF fires only if SET names one of the columns. For a column that can change without being
// named, the trigger must fire on every UPDATE.
std::string SourceTriggers::update_event(const ColumnFacts& facts) const {
  std::string columns;
  std::string differs;
  for (const std::string& column : source_.names().columns) {
    const std::string name = quoted_name(column);
    columns.append(columns.empty() ? " OF " : ", ").append(name);
    differs.append(differs.empty() ? " WHEN " : " OR ");
    differs.append("old.").append(name).append(" IS NOT new.").append(name);
  }
  return "UPDATE" + (facts.can_change_unnamed ? "" : columns) + " ON " +
         quoted_name(source_.names().table) + differs;
}

// A key of several columns is not known before an UPDATE: another BEFORE trigger can change the
// columns that the UPDATE does not set.
bool SourceTriggers::needs_after(const ColumnFacts& facts) const {
  const bool has_default = std::any_of(facts.defaults.begin(), facts.defaults.end(),
                                       [](const std::string& sql) { return !sql.empty(); });
  return facts.can_change_unnamed || has_default || source_.names().columns.size() > 1;
}

std::vector<SourceTriggers::Trigger> SourceTriggers::triggers(const std::string& table,
                                                              const std::string& target,
                                                              std::uint64_t version) const {
  if (version == kVersionForRanges) {
    return triggers_that_note_ranges(table);
  }
  return version == kVersionForAny ? triggers_that_log(table, target)
                                   : triggers_that_command(table, target, version);
}

std::vector<SourceTriggers::Trigger> SourceTriggers::triggers_that_log(
    const std::string& table, const std::string& target) const {
  const SourceNames& names = source_.names();
  const ColumnFacts facts = source_.facts();
  std::string key_columns;
  for (std::size_t i = 0; i < names.columns.size(); ++i) {
    key_columns.append(i == 0 ? "key" : ", key").append(std::to_string(i + 1));
  }
  const auto append = [&](std::string_view added, std::string_view row) {
    std::string sql =
        " INSERT INTO " + log_columns(target) + key_columns + ") VALUES (randomblob(8), ";
    sql.append(added);
    for (std::size_t i = 0; i < names.columns.size(); ++i) {
      const std::string value = std::string(row).append(".").append(quoted_name(names.columns[i]));
      const std::string& default_sql = facts.defaults[i];
      if (row == "new" && !default_sql.empty()) {
        sql.append(", coalesce(").append(value).append(", ").append(default_sql).append(")");
      } else {
        sql.append(", ").append(value);
      }
    }
    return sql + ");";
  };
  const std::string on = " ON " + quoted_name(names.table);
  const std::string update = update_event(facts);
  const std::string add = append("1", "new");
  const std::string remove = append("0", "old");
  const bool add_after_update = names.columns.size() > 1;
  const bool can_skip_null = names.columns.size() == 1 && facts.defaults.front().empty();
  const std::string skip_null =
      can_skip_null ? " WHEN new." + quoted_name(names.columns.front()) + " IS NOT NULL" : "";
  return {{table, names.table, "_before_insert", "INSERT" + on + skip_null, add},
          {table, names.table, "_before_update", update, add},
          {table, names.table, "_after_update", update, (add_after_update ? add : "") + remove},
          {table, names.table, "_after_delete", "DELETE" + on, remove}};
}

// Rows after the last range need no note. A BEFORE INSERT trigger does not know the rowid that
// SQLite will choose: new.rowid is -1 then. SQLite takes the largest rowid plus 1, or a random
// rowid if the largest one possible is in use. The smallest rowid stands for that, and all ranges
// are noted. AFTER INSERT notes what a BEFORE trigger could not foresee: a row whose rowid is
// really -1, or chosen after another trigger has deleted rows.
std::vector<SourceTriggers::Trigger> SourceTriggers::triggers_that_note_ranges(
    const std::string& table) const {
  const SourceNames& names = source_.names();
  const std::string source = quoted_name(names.table);
  const std::string id = quoted_name(source_.rowid_alias());
  const std::string column = quoted_name(names.columns.front());
  const std::string members = quoted_name(table + "_members");
  const std::string known = "new." + id;
  const std::string smallest = "-9223372036854775808";
  const std::string chosen = "(SELECT CASE max(" + id + ") WHEN 9223372036854775807 THEN " +
                             smallest + " ELSE coalesce(max(" + id + "), 0) + 1 END FROM " +
                             source + ")";
  const std::string expected = "CASE " + known + " WHEN -1 THEN " + chosen + " ELSE coalesce(" +
                               known + ", " + smallest + ") END";
  const auto is_summarized = [&](const std::string& rowid) {
    return rowid + " <= (SELECT v FROM " + quoted_name(table + "_config") +
           " WHERE k = 'summarized')";
  };
  // `first` selects the first rowid of the range, or NULL for all ranges.
  const auto note = [&](const std::string& first) {
    return " INSERT INTO " + note_columns(table) + "SELECT r.first FROM (SELECT " + first +
           " AS first) AS r WHERE NOT EXISTS (SELECT 1 FROM " +
           quoted_name(table + std::string(kChangedSuffix)) + " AS c WHERE c.first IS r.first);";
  };
  const auto range_of = [&](const std::string& rowid) {
    return "(SELECT max(member) FROM " + members + " WHERE member <= " + rowid + ")";
  };
  const std::string expected_range =
      "CASE WHEN " + expected + " > " + smallest + " THEN " + range_of(expected) + " END";
  const std::string on = " ON " + source + " WHEN ";
  return {{table, names.table, "_before_insert", "INSERT" + on + is_summarized(expected),
           note(expected_range)},
          {table, names.table, "_after_insert", "INSERT" + on + is_summarized(known),
           note(range_of(known))},
          {table, names.table, "_before_update",
           "UPDATE" + on + "(old." + column + " IS NOT new." + column + " OR old." + id +
               " IS NOT new." + id + ") AND " + is_summarized(known),
           note(range_of(known))}};
}

std::vector<SourceTriggers::Trigger> SourceTriggers::triggers_that_command(
    const std::string& table, const std::string& target, std::uint64_t version) const {
  const std::string& source = source_.names().table;
  const auto write = [&](std::string_view command, std::string_view row) {
    return " INSERT INTO " + quoted_name(target) + command_columns(table) +
           sqlite::text_literal(command) + ", " + source_.key_of(row) + ");";
  };
  const ColumnFacts facts = source_.facts();
  const std::string on = " ON " + quoted_name(source);
  const std::string update = update_event(facts);
  const std::string add = write(kAdd, "new");
  const std::string remove = write(kRemove, "old");
  const bool add_after = counting_ || needs_after(facts);
  std::vector<Trigger> triggers;
  if (!counting_ || version != kVersionOfRelease1) {
    const std::string before = counting_ ? write(kExpect, "new") : add;
    triggers.emplace_back(table, source, "_before_insert", "INSERT" + on, before);
    triggers.emplace_back(table, source, "_before_update", update, before);
  }
  if (add_after) {
    triggers.emplace_back(table, source, "_after_insert", "INSERT" + on, add);
  }
  triggers.emplace_back(table, source, "_after_update", update, remove + (add_after ? add : ""));
  triggers.emplace_back(table, source, "_after_delete", "DELETE" + on, remove);
  return triggers;
}

void SourceTriggers::install(const std::string& table, std::uint64_t version) const {
  constexpr std::string_view kCreate = "CREATE TRIGGER ";
  for (const Trigger& trigger : triggers(table, table, version)) {
    sqlite::execute(source_.db(), std::string(kCreate) + quoted_name(source_.schema()) + "." +
                                      trigger.sql.substr(kCreate.size()));
  }
}

// Other tables may have triggers of the same names. A trigger is dropped only if it writes to the
// bloom table or its log, or belongs to the source.
void SourceTriggers::uninstall(const std::string& table) const {
  for (const Trigger& trigger : stored_triggers(table)) {
    if (writes_to(table, trigger.sql) ||
        sqlite3_stricmp(trigger.source.c_str(), source_.names().table.c_str()) == 0) {
      sqlite::execute(source_.db(), "DROP TRIGGER " + source_.qualified(trigger.name));
    }
  }
}

std::vector<SourceTriggers::Trigger> SourceTriggers::stored_triggers(
    const std::string& table) const {
  const Statement select(source_.db(), "SELECT name, sql, tbl_name FROM " +
                                           source_.qualified("sqlite_master") +
                                           " WHERE type = 'trigger' AND name COLLATE NOCASE IN "
                                           "(?1, ?2, ?3, ?4, ?5)");
  std::array<std::string, kSuffixes.size()> names;
  Execution run(select);
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = table + std::string(kSuffixes[i]);
    run.bind(static_cast<int>(i) + 1, names[i]);
  }
  std::vector<Trigger> triggers;
  while (run.step()) {
    triggers.emplace_back(run);
  }
  return triggers;
}

// Returns whether `stored` has this trigger, unchanged. SQLite ignores the case of names.
bool SourceTriggers::is_stored(const std::vector<Trigger>& stored, const Trigger& trigger) {
  return std::any_of(stored.begin(), stored.end(), [&](const Trigger& other) {
    return sqlite3_stricmp(other.name.c_str(), trigger.name.c_str()) == 0 &&
           sqlite::same_sql(other.sql, trigger.sql);
  });
}

// Takes the names from the last trigger that install() makes: its table, and the columns of `old`
// that it names first. If that trigger is not as install() makes it, takes them from the options
// and returns false.
bool SourceTriggers::take_names(const std::vector<Trigger>& stored, const std::string& table,
                                const std::string& target, std::uint64_t version) {
  const std::string last =
      table + std::string(version == kVersionForRanges ? "_before_update" : kSuffixes.back());
  const std::size_t count = source_.names().columns.size();
  for (const Trigger& trigger : stored) {
    if (sqlite3_stricmp(trigger.name.c_str(), last.c_str()) == 0) {
      std::vector<std::string> columns = columns_of("old", trigger.sql);
      if (version == kVersionForRanges) {
        columns.resize(std::min(columns.size(), count));
      }
      source_.set_names({trigger.source, std::move(columns)});
      if (is_stored(stored, triggers(table, target, version).back())) {
        return true;
      }
    }
  }
  source_.take_names_from_options();
  return false;
}

void SourceTriggers::find_names(const std::string& table) {
  const std::vector<Trigger> stored = stored_triggers(table);
  for (const std::uint64_t version : {kVersionForAny, kVersionForExtension, kVersionForRanges}) {
    if (take_names(stored, table, table, version)) {
      return;
    }
  }
}

bool SourceTriggers::refresh_names_and_check(const std::string& table, const std::string& target,
                                             std::uint64_t version) {
  const std::vector<Trigger> stored = stored_triggers(table);
  if (!take_names(stored, table, target, version)) {
    return false;
  }
  const std::vector<Trigger> wanted = triggers(table, target, version);
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const Trigger& trigger) { return is_stored(stored, trigger); });
}

// A filter that gets keys from AFTER triggers always has the trigger _after_insert. Triggers of
// other filters do not block it: when they fail, the whole statement fails.
std::optional<std::string> SourceTriggers::blocking_trigger(const std::string& table) const {
  const std::string triggers = source_.qualified("sqlite_master") + " WHERE type = 'trigger'";
  const Statement select(source_.db(),
                         "SELECT name, sql FROM " + triggers +
                             " AND tbl_name = ?1 COLLATE NOCASE AND rowid > (SELECT rowid FROM " +
                             triggers + " AND name = ?2 COLLATE NOCASE)");
  const std::string first = table + "_after_insert";
  Execution run(select);
  run.bind(1, source_.names().table).bind(2, first);
  return first_after_trigger(run);
}

// Any TEMP trigger that may run AFTER counts. A TEMP trigger on a table of the same name in another
// schema counts as well; that is a false alarm.
std::optional<std::string> SourceTriggers::blocking_temp_trigger() const {
  const Statement select(source_.db(),
                         "SELECT name, sql FROM sqlite_temp_master WHERE type = 'trigger'"
                         " AND tbl_name = ?1 COLLATE NOCASE");
  Execution run(select);
  run.bind(1, source_.names().table);
  return first_after_trigger(run);
}

}  // namespace bloom
