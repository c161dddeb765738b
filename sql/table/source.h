// The table that a bloom table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
//
// Triggers of the source report every change to the bloom table, in the transaction of the change.
// SQLite keeps the triggers right when the source or its columns are renamed, and drops them with
// the source; the current names are read from them.
//
// A counting filter must be told of each change exactly once: its triggers run AFTER. Any other
// filter may be told of too many keys but not of too few: its keys are added BEFORE the row is
// there, because another trigger can keep later ones from running. What BEFORE triggers may not
// know (such as a rowid that SQLite chooses) is added AFTER as well.
//
// AFTER triggers can be kept from running, by an AFTER trigger that runs first and raises IGNORE or
// FAIL. A BEFORE trigger cannot, if a row is to be changed at all. So each filter has BEFORE
// triggers, and looks for such obstacles when they run.
//
// An index on the columns that holds no rows keeps SQLite from changing them without triggers: by
// ALTER TABLE ... DROP COLUMN, which PRAGMA legacy_alter_table allows for columns that only
// triggers use, and by sqlite3_blob_write().
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

// As the options name them.
struct SourceNames {
  std::string table;
  std::vector<std::string> columns;  // several make a key as bloom_key() does
};

class Source {
 public:
  // What the triggers put into the command column. `expect`: AFTER triggers are to report a row.
  static constexpr std::string_view kAdd = "add";
  static constexpr std::string_view kRemove = "remove";
  static constexpr std::string_view kExpect = "expect";

  // The set of triggers that install() makes, as Config::triggers has it. Sets of a lower number
  // are known: that of version 1.0 is 0, without the index and without `expect`.
  static constexpr std::uint64_t kTriggers = 2;

  Source(sqlite3* db, std::string schema, SourceNames names, bool counting)
      : db_(db),
        schema_(std::move(schema)),
        stated_(std::move(names)),
        names_(stated_),
        counting_(counting) {}

  const SourceNames& names() const { return names_; }

  // The collation of the column, as far as a filter can have it; binary where it cannot be told.
  Collation collation() const;

  // Throws bloom::Error unless it is a table that a filter of this collation can follow.
  void require_fit(Collation collation) const;

  // The index that holds no rows. make_guard() returns its name, which stays: SQLite cannot drop an
  // index while other statements run, so that renaming the table or 'rebuild' cannot either.
  std::string make_guard(const std::string& table) const;
  bool has_guard(const std::string& name) const;
  void drop_guard(const std::string& name) const;

  // The triggers of the bloom table of this name. `set`: see kTriggers.
  void install(const std::string& table, std::uint64_t set) const;
  void uninstall(const std::string& table) const;
  // Whether they are all there as install() made them. The source and its columns are then those
  // that the last of them names, if that is as it was, else those of the options. `target`: the
  // table that they write to, while ALTER TABLE renames it.
  bool refresh_from_triggers(const std::string& table, std::uint64_t set) {
    return refresh_from_triggers(table, table, set);
  }
  bool refresh_from_triggers(const std::string& table, const std::string& target,
                             std::uint64_t set);
  // The name of an AFTER trigger of the source that SQLite runs before those of the filter, because
  // it is newer or a TEMP trigger. It may fail, leave the row, and keep the filter's from running.
  std::optional<std::string> blocking_trigger(const std::string& table) const;
  std::optional<std::string> blocking_temp_trigger() const;
  // Whether the filter depends on AFTER triggers for keys.
  bool needs_after() const;

  // Changes when the schema does. A transaction that is rolled back gives numbers back.
  std::int64_t schema_version();
  std::int64_t temp_schema_version();
  // Whether a statement other than the one that calls us may be changing the source.
  bool is_being_written() const { return sqlite::running_writers(db_) > 1; }

  // Calls f(key) for each row whose key is not NULL. Throws SqliteError.
  void for_each_key(const std::function<void(const sqlite::Value&)>& f) const;

 private:
  struct ColumnFacts;
  struct Trigger;

  // Null if it is an ordinary table.
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
  SourceNames stated_;
  SourceNames names_;
  bool counting_;
  std::optional<sqlite::Statement> select_version_;
  std::optional<sqlite::Statement> select_temp_version_;
};

}  // namespace bloom
