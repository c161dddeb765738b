// The table that a bloom table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
//
// Triggers of the source tell the bloom table of every change, in the transaction of the change.
// They are what binds the two: SQLite keeps them right when the source or its columns are renamed,
// and drops them with the source; they are where the names that it has by now are found.
//
// A counting filter must be told of what happened, once: its triggers run AFTER. Another one may
// be told too much, but never too little: its keys are added BEFORE the row is there, since other
// triggers could keep a later one from running. What BEFORE triggers may not know (such as a rowid
// that SQLite is to choose) is added AFTER as well.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/collation.h"
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
  // What the triggers put into the command column.
  static constexpr std::string_view kAdd = "add";
  static constexpr std::string_view kRemove = "remove";

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

  // The triggers of the bloom table of this name.
  void install(const std::string& table) const;
  void uninstall(const std::string& table) const;
  // Whether they are all there as install() made them. The source and its columns are then those
  // that the last of them names, if that is as it was, else those of the options. `target`: the
  // table that they write to, while ALTER TABLE renames it.
  bool find(const std::string& table) { return find(table, table); }
  bool find(const std::string& table, const std::string& target);
  // The name of an AFTER trigger of the source that may fail, leave the row, and keep those that
  // add its key after it from running: it is newer, and SQLite runs it first.
  std::optional<std::string> obstacle(const std::string& table) const;

  // Changes when the schema does. A transaction that is rolled back gives numbers back.
  std::int64_t schema_version();

  // Calls f(key) for each row whose key is not NULL. Throws SqliteError.
  void for_each_key(const std::function<void(const sqlite::Value&)>& f) const;

 private:
  struct ColumnFacts;
  struct Trigger;

  // Null if it is an ordinary table.
  const char* what_else_it_is() const;
  bool is_shadow() const;
  std::string pragma(const char* name) const;
  std::string qualified(std::string_view name) const;
  std::string key_of(std::string_view row) const;
  std::string collation_name(const std::string& column) const;
  std::optional<ColumnFacts> facts_of(const std::string& column) const;
  ColumnFacts facts() const;
  std::string update_event(const ColumnFacts& facts) const;
  std::vector<Trigger> triggers(const std::string& table, const std::string& target) const;
  std::vector<Trigger> stored_triggers(const std::string& table) const;

  sqlite3* db_;
  std::string schema_;
  SourceNames stated_;
  SourceNames names_;
  bool counting_;
  std::optional<sqlite::Statement> version_;
};

}  // namespace bloom
