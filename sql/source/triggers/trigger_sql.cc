#include "sql/source/triggers/trigger_sql.h"

#include <algorithm>
#include <utility>

#include "sql/source/change_log.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::quoted_name;

// UPDATE OF fires only if SET names one of the columns. For a column that can change without being
// named, the trigger must fire on every UPDATE.
std::string update_event(const Source& source, const ColumnFacts& facts) {
  std::string columns;
  for (const std::string& column : source.names().columns) {
    columns.append(columns.empty() ? " OF " : ", ").append(quoted_name(column));
  }
  return "UPDATE" + (facts.can_change_unnamed ? "" : columns) + " ON " +
         quoted_name(source.names().table);
}

// Returns the condition that an UPDATE changes the key. `groups`: the first column is a member,
// which is compared by BINARY, whatever the collation of the column.
std::string key_differs(const Source& source, bool groups = false) {
  std::string differs;
  for (const std::string& column : source.names().columns) {
    const std::string name = quoted_name(column);
    differs.append(differs.empty() ? "" : " OR ");
    differs.append("old.").append(name).append(" IS NOT new.").append(name);
    differs.append(groups && &column == &source.names().columns.front() ? " COLLATE BINARY" : "");
  }
  return differs;
}

// A key of several columns is not known before an UPDATE: another BEFORE trigger can change the
// columns that the UPDATE does not set.
bool needs_after(const Source& source, const ColumnFacts& facts) {
  const bool has_default = std::any_of(facts.defaults.begin(), facts.defaults.end(),
                                       [](const std::string& sql) { return !sql.empty(); });
  return facts.can_change_unnamed || has_default || source.names().columns.size() > 1;
}

}  // namespace

Trigger::Trigger(const std::string& table, std::string_view suffix, const std::string& event,
                 const std::string& body)
    : name(table + std::string(suffix)) {
  sql = "CREATE TRIGGER " + quoted_name(name);
  sql.append(suffix.starts_with("_after") ? " AFTER " : " BEFORE ");
  sql.append(event).append(" BEGIN").append(body).append(" END");
}

std::string command_text_part(const std::string& table) {
  return std::string("(").append(quoted_name(table)).append(", key) VALUES (");
}
std::string log_text_part(const std::string& table) {
  return quoted_name(table + std::string(ChangeLog::kSuffix)) + "(token, added";
}

bool adds_keys_after(const Source& source, bool counting) {
  return counting || needs_after(source, source.facts());
}

std::vector<Trigger> triggers_that_log(const Source& source, const std::string& table,
                                       RemovedKey removed) {
  const SourceNames& names = source.names();
  const ColumnFacts facts = source.facts();
  const auto column = [&](std::string_view row, std::size_t i) {
    return std::string(row).append(".").append(quoted_name(names.columns[i]));
  };
  std::string key_columns;
  std::string old_key;
  std::string new_key;
  std::string old_is_key;
  const bool groups = removed == RemovedKey::first_column;
  for (std::size_t i = 0; i < names.columns.size(); ++i) {
    const std::string& default_sql = facts.defaults[i];
    const std::string value = column("new", i);
    key_columns.append(", key").append(std::to_string(i + 1));
    old_key.append(", ").append(column("old", i));
    // Not coalesce(), which an application can replace.
    new_key.append(", ");
    if (default_sql.empty()) {
      new_key.append(value);
    } else {
      new_key.append("CASE WHEN ").append(value).append(" IS NULL THEN ").append(default_sql);
      new_key.append(" ELSE ").append(value).append(" END");
    }
    if (!groups || i > 0) {
      old_is_key.append(old_is_key.empty() ? "" : " AND ").append(column("old", i));
      old_is_key.append(" IS NOT NULL");
    }
  }
  const bool composite = names.columns.size() > 1;
  const std::string differs = key_differs(source, groups);
  const std::string insert = " INSERT INTO " + log_text_part(table);
  const auto record = [&](ChangeLog::Change change, const std::string& columns,
                          const std::string& key, const std::string& condition) {
    const std::string values = "randomblob(8), " + std::to_string(static_cast<int>(change)) + key;
    return insert + columns + ")" +
           (condition.empty() ? " VALUES (" + values + ");"
                              : " SELECT " + values + " WHERE " + condition + ";");
  };
  // changes() counts the rows of the statement before, within the same trigger.
  const auto record_key = [&](ChangeLog::Change change, const std::string& condition) {
    return record(change, key_columns, new_key, condition) +
           " SELECT raise(ABORT, 'the change log of a bloom table has not taken a row') WHERE "
           "changes() = 0" +
           (condition.empty() ? "" : " AND (" + condition + ")") + ";";
  };
  // A deleted value is copied only if it is needed. old_is_key and the value name the columns in
  // their order: see TriggerSet::names_suffix.
  const auto remove = [&](const std::string& condition) {
    if (removed == RemovedKey::nothing) {
      return std::string();
    }
    if (removed == RemovedKey::all_columns) {
      return record(ChangeLog::kRemoved, key_columns, old_key, condition);
    }
    return record(ChangeLog::kRemoved, ", key1", ", " + column("old", 0),
                  old_is_key + (condition.empty() ? "" : " AND (" + condition + ")"));
  };
  const std::string on = " ON " + quoted_name(names.table);
  const std::string update = update_event(source, facts);
  const bool can_skip_null = !composite && facts.defaults.front().empty();
  const std::string skip_null = can_skip_null ? " WHEN " + column("new", 0) + " IS NOT NULL" : "";
  const std::string add = record_key(ChangeLog::kAdded, "");
  std::vector<Trigger> triggers;
  const auto append = [&](std::string_view suffix, const std::string& event,
                          const std::string& body) {
    triggers.emplace_back(table, suffix, event, body);
  };
  const auto append_after_delete = [&] {
    if (removed != RemovedKey::nothing) {
      append(kAfterDeleteSuffix, "DELETE" + on, remove(""));
    }
    return triggers;
  };
  append(kBeforeInsertSuffix, "INSERT" + on + skip_null, add);
  if (!composite) {
    const std::string changed = update + " WHEN " + differs;
    append(kBeforeUpdateSuffix, changed, add);
    if (removed != RemovedKey::nothing) {
      append(kAfterUpdateSuffix, changed, remove(""));
    }
    return append_after_delete();
  }
  // Both run for the same rows, so that AFTER voids the announcement of its own row: `differs` can
  // be false BEFORE and true AFTER. The announcement of a row that keeps its key is deleted, if it
  // is the newest row of the log: other rows follow without gaps.
  const std::string log = quoted_name(table + std::string(ChangeLog::kSuffix));
  const std::string newest = " WHERE id = (SELECT id FROM " + log;
  const std::string end = " ORDER BY id DESC LIMIT 1)";
  const std::string end_announcement =
      " UPDATE " + log + " SET added = " + std::to_string(ChangeLog::kVoid) + newest +
      " WHERE added = " + std::to_string(ChangeLog::kAnnounced) + end + "; DELETE FROM " + log +
      newest + end + " AND added = " + std::to_string(ChangeLog::kVoid) + ";";
  append(kBeforeUpdateSuffix, update, record_key(ChangeLog::kAnnounced, ""));
  append(kAfterUpdateSuffix, update,
         record_key(ChangeLog::kAdded, differs) + end_announcement + remove(differs));
  return append_after_delete();
}

std::vector<Trigger> triggers_that_command(const Source& source, const std::string& table,
                                           const std::string& target, bool counting,
                                           std::uint64_t trigger_set_number) {
  const std::string& name = source.names().table;
  const auto write = [&](std::string_view command, std::string_view row) {
    return " INSERT INTO " + quoted_name(target) + command_text_part(table) +
           sqlite::text_literal(command) + ", " + source.key_sql(row) + ");";
  };
  const ColumnFacts facts = source.facts();
  const std::string on = " ON " + quoted_name(name);
  const std::string update = update_event(source, facts) + " WHEN " + key_differs(source);
  const std::string add = write(kAddCommand, "new");
  const std::string remove = write(kRemoveCommand, "old");
  const bool is_of_release1 = trigger_set_number == kTriggersOfRelease1;
  const bool removes = counting || is_of_release1;
  const bool add_after = counting || needs_after(source, facts);
  std::vector<Trigger> triggers;
  if (!counting || !is_of_release1) {
    const std::string before = counting ? write(kExpectCommand, "new") : add;
    triggers.emplace_back(table, kBeforeInsertSuffix, "INSERT" + on, before);
    triggers.emplace_back(table, kBeforeUpdateSuffix, update, before);
  }
  if (add_after) {
    triggers.emplace_back(table, kAfterInsertSuffix, "INSERT" + on, add);
  }
  if (removes || add_after) {
    triggers.emplace_back(table, kAfterUpdateSuffix, update,
                          (removes ? remove : "") + (add_after ? add : ""));
  }
  if (removes) {
    triggers.emplace_back(table, kAfterDeleteSuffix, "DELETE" + on, remove);
  }
  return triggers;
}

}  // namespace bloom
