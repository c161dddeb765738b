// What a virtual table makes to follow its source: a guard index and triggers on the source, and a
// side table to which the triggers append. A SourceLink makes, checks, renames and drops all of
// them. The virtual table says which triggers and which side table it has, and stores the name
// of its guard index. A bloom table has a choice of trigger sets, and stores the number of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source/declared_columns.h"
#include "sql/source/guard_index.h"
#include "sql/source/source.h"
#include "sql/source/triggers/source_triggers.h"

namespace bloom {

// What a virtual table stores of its link.
struct LinkedObjects {
  std::uint64_t trigger_set_number = 0;
  std::string guard_index = {};  // empty: version 1.0 made none
};

// The check whether triggers, guard index and side table are as the extension made them takes
// longer than a lookup. A SchemaCheck remembers the state of the schema at which it last passed.
class SchemaCheck {
 public:
  // Call when a statement is prepared, and before a command. SQLite prepares lookups again after a
  // schema change. It does not report that it prepares an INSERT.
  void expire() { is_current_ = false; }
  // Returns whether the schema is the same as at the last call of set_passed(). Looks at it only
  // after expire(), or if the connection has changed rows since it looked last. Without changed
  // rows, no trigger can have missed one.
  bool still_passes(Source& source) {
    if (!is_current(source)) {
      is_current_ = state_ && state_ == source.reader().state();
      changes_ = sqlite3_total_changes(source.db());
    }
    return is_current_;
  }
  // Returns whether still_passes() is true without a look at the schema.
  bool is_current(const Source& source) const {
    return is_current_ && changes_ == sqlite3_total_changes(source.db());
  }
  void set_passed(Source& source) {
    is_current_ = true;
    state_ = source.reader().state();
    changes_ = sqlite3_total_changes(source.db());
  }

 private:
  bool is_current_ = false;                   // as found since a statement was prepared
  int changes_ = 0;                           // sqlite3_total_changes() when the state was compared
  std::optional<SchemaReader::State> state_;  // at the last set_passed()
};

class SourceLink {
 public:
  // `table`: the virtual table. `sets`: see SourceTriggers. `consequence`, for error messages: what
  // may have happened if an object is missing, such as "keys may be missing from the filter".
  SourceLink(sqlite3* db, const std::string& schema, const std::string& table,
             const SourceNames& names, std::vector<TriggerSet> sets, SideTable side,
             std::string_view consequence)
      : source_(db, schema, names),
        guard_(source_),
        triggers_(source_, std::move(sets), std::move(side)),
        consequence_(consequence) {
    triggers_.find_names(table);
    declared_ = DeclaredColumns(source_);
  }
  SourceLink(const SourceLink&) = delete;
  SourceLink& operator=(const SourceLink&) = delete;

  Source& source() { return source_; }
  const Source& source() const { return source_; }
  SourceTriggers& triggers() { return triggers_; }
  const SourceTriggers& triggers() const { return triggers_; }
  GuardIndex& guard() { return guard_; }
  const GuardIndex& guard() const { return guard_; }
  const DeclaredColumns& declared() const { return declared_; }
  // Returns the name of the side table, without the schema.
  std::string side_table(const std::string& table) const { return triggers_.side().name(table); }

  // For CREATE. Requires: source().require_no_other_writer() has passed, because a running
  // statement does not fire triggers that are created while it runs.
  LinkedObjects create(const std::string& table, std::uint64_t trigger_set_number);
  // For 'rebuild': makes triggers and a guard index that are missing or have changed, and makes or
  // empties the side table. Fails if the side table has changed. `objects`: as stored.
  // `triggers_are_current`: they are those of `trigger_set_number`, see refresh_names_and_check().
  LinkedObjects restore(const std::string& table, const LinkedObjects& objects,
                        std::uint64_t trigger_set_number, bool triggers_are_current);
  // For DROP. `guard_index`: empty if it cannot be read.
  void drop(const std::string& table, const std::string& guard_index);
  // For ALTER TABLE ... RENAME. Calls rename_tables(), which renames the shadow tables. Throws
  // bloom::Error, with nothing changed, if an object is not as it was made: which table the new
  // name should follow would not be certain.
  void rename(std::string_view old_name, const std::string& new_name, const LinkedObjects& objects,
              const std::function<void()>& rename_tables);

  // Throws SqliteError(SQLITE_AUTH) if an authorizer hides columns of the source or side table.
  // Call before a command, unless it reads neither.
  void require_readable(const std::string& table) const;
  // Throws bloom::Error if the source or a column was renamed, and something else now has the
  // accepted name: see SourceTriggers::accepted_names().
  void require_names_not_taken() const;
  // As above; also throws if the columns are not those that this connection has declared: SQLite
  // could compare what a lookup returns by other rules than those of the source.
  void require_same_columns(const std::string& table) const;
  // For 'rebuild'. As require_names_not_taken(); also throws if the source has lost a column.
  void require_names_and_columns() const;

  // Call when a statement is prepared, and before a command: see SchemaCheck.
  void schema_may_have_changed() { schema_check_.expire(); }
  // Call if other triggers are wanted now: the next check() looks at everything.
  void forget_check() { schema_check_ = {}; }
  // Returns whether the schema is still that of the last check() that found nothing.
  bool still_passes() { return schema_check_.still_passes(source_); }
  // Returns true if check() certainly finds nothing. Does not look at the schema, and takes a few
  // ns.
  bool is_known_in_sync() const { return schema_check_.is_current(source_); }
  // Returns which object is not as it was made, and what to do; nullopt if all are. check() does
  // nothing if the schema is that of the last check that has passed. `and_then`: checked as well.
  std::optional<std::string> check(
      const std::string& table, const LinkedObjects& objects,
      const std::function<std::optional<std::string>()>& and_then = {});
  // As check(), but always looks at the objects, and at no names.
  std::optional<std::string> problem_of_objects(const std::string& table,
                                                const LinkedObjects& objects);

 private:
  std::optional<std::string> problem_of_names() const;
  std::optional<std::string> problem_of_columns(const std::string& table) const;
  std::string missing_triggers() const;
  // Requires: the names of the source are the current ones.
  std::optional<std::string> problem_beside_triggers(const std::string& table,
                                                     const LinkedObjects& objects);
  std::string problem(const std::string& what, std::string_view fix) const;
  // Returns the CREATE statement of the side table; empty if there is none.
  std::string_view side_table_sql(const StoredSchema& stored) const;
  bool has_side_table(const StoredSchema& stored) const;
  void empty_side_table(const std::string& table) const;

  Source source_;
  GuardIndex guard_;
  SourceTriggers triggers_;
  DeclaredColumns declared_;
  SchemaCheck schema_check_;
  const std::string consequence_;
};

}  // namespace bloom
