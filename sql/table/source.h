// The table that a bloom table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
//
// Triggers on the source pass every change to the bloom table, in the transaction of the change.
// When the source or its columns are renamed, SQLite updates the triggers. When the source is
// dropped, SQLite drops them. The current names are therefore read from the triggers.
//
// A counting filter must receive each change exactly once, so its triggers run AFTER. Any other
// filter may receive too many keys, but not too few. Its keys are added BEFORE the row is written,
// because another trigger can prevent later ones from running. Values that a BEFORE trigger may not
// know, such as a rowid that SQLite chooses, are added AFTER as well.
//
// An AFTER trigger that runs first can prevent later AFTER triggers from running, by raising IGNORE
// or FAIL. A BEFORE trigger cannot be prevented, if a row is to be changed at all. So each filter
// has BEFORE triggers, which check for such AFTER triggers when they run.
//
// The guard is a partial index on the columns that contains no rows. It blocks two ways to change
// the columns without firing triggers: sqlite3_blob_write(), and ALTER TABLE ... DROP COLUMN under
// PRAGMA legacy_alter_table, which permits dropping a column that only triggers use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/collation.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"

namespace bloom {

// The names as the options give them.
struct SourceNames {
  std::string table;
  std::vector<std::string> columns;  // several columns form a key as bloom_key() does
};

class Source {
 public:
  // The commands that the triggers write to the command column. `expect` announces that an AFTER
  // trigger should report a row.
  static constexpr std::string_view kAdd = "add";
  static constexpr std::string_view kRemove = "remove";
  static constexpr std::string_view kExpect = "expect";

  // The version of the triggers that install() makes; stored in Config::trigger_version. Lower
  // versions are supported. Version 0, of release 1.0, has no guard index and no `expect`.
  static constexpr std::uint64_t kTriggerVersion = 2;

  Source(sqlite3* db, std::string schema, SourceNames names, bool counting)
      : db_(db),
        schema_(std::move(schema)),
        names_from_options_(std::move(names)),
        names_(names_from_options_),
        counting_(counting) {}

  const SourceNames& names() const { return names_; }

  // Returns the collation of the column. Returns binary if the filter does not support the
  // collation, or if it cannot be read.
  Collation collation() const;

  // Throws bloom::Error unless the source is an ordinary table that a filter of this collation can
  // follow.
  void require_fit(Collation collation) const;

  // The guard index: see the top. make_guard() creates the index and returns its name. The index
  // keeps its name when the table is renamed or rebuilt: SQLite cannot drop an index while other
  // statements run. has_guard() returns whether the index exists as make_guard() makes it.
  // drop_guard() does nothing if there is no such guard index.
  std::string make_guard(const std::string& table) const;
  bool has_guard(const std::string& name) const;
  void drop_guard(const std::string& name) const;

  // Creates or drops the triggers of the bloom table `table`. `set`: see kTriggerVersion.
  void install(const std::string& table, std::uint64_t set) const;
  void uninstall(const std::string& table) const;
  // Returns whether all triggers exist exactly as install() makes them. Also updates names(): from
  // the last trigger if it is unchanged, else from the options. `target` is the table that the
  // triggers write to; it differs from `table` during ALTER TABLE ... RENAME.
  bool refresh_from_triggers(const std::string& table, std::uint64_t set) {
    return refresh_from_triggers(table, table, set);
  }
  bool refresh_from_triggers(const std::string& table, const std::string& target,
                             std::uint64_t set);
  // Returns the name of an AFTER trigger on the source that SQLite runs before the filter's own;
  // none if there is no such trigger. SQLite runs newer triggers first, and TEMP triggers before
  // all others. Such a trigger may fail, keep the row, and prevent the filter's triggers from
  // running.
  std::optional<std::string> blocking_trigger(const std::string& table) const;
  std::optional<std::string> blocking_temp_trigger() const;
  // Returns whether AFTER triggers add keys to the filter.
  bool needs_after() const;

  // Return a number that changes whenever the schema changes. After a rollback SQLite uses the same
  // numbers again.
  std::int64_t schema_version();
  std::int64_t temp_schema_version();
  // Returns whether another statement of this connection may be changing the source.
  bool is_being_written() const { return sqlite::running_writers(db_) > 1; }

  // Calls f(key) for each row whose key is not NULL. Throws SqliteError, and what `f` throws.
  void for_each_key(const std::function<void(const sqlite::Value&)>& f) const;

 private:
  struct ColumnFacts;
  struct Trigger;

  // Returns what the source is instead of an ordinary table; null if it is an ordinary table.
  const char* unsupported_type() const;
  bool is_shadow() const;
  std::string pragma(const char* name) const;
  std::string qualified(std::string_view name) const;
  std::string key_of(std::string_view row) const;
  std::string guard_sql(const std::string& name) const;
  bool has_object(const std::string& name) const;
  std::string collation_name(const std::string& column) const;
  std::optional<ColumnFacts> facts_of(const std::string& column) const;
  ColumnFacts facts() const;
  std::string update_event(const ColumnFacts& facts) const;
  std::vector<Trigger> triggers(const std::string& table, const std::string& target,
                                std::uint64_t set) const;
  std::vector<Trigger> stored_triggers(const std::string& table) const;

  sqlite3* db_;
  std::string schema_;
  SourceNames names_from_options_;
  SourceNames names_;
  bool counting_;
  std::optional<sqlite::Statement> select_version_;
  std::optional<sqlite::Statement> select_temp_version_;
};

}  // namespace bloom
