// The table that a bloom table follows: CREATE VIRTUAL TABLE ... USING bloom(source=t, column=c).
//
// Three triggers of the source tell the bloom table of every change, in the transaction of the
// change. They are what binds the two: SQLite keeps them right when the source or its columns are
// renamed, and drops them with the source; they are where the names that it has by now are found.
#pragma once

#include <functional>
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

  Source(sqlite3* db, std::string schema, SourceNames names)
      : db_(db), schema_(std::move(schema)), stated_(std::move(names)), names_(stated_) {}

  const SourceNames& names() const { return names_; }

  // The collation of the column, as far as a filter can have it; binary where it cannot be told.
  Collation collation() const;

  // Throws bloom::Error unless it is a table that a filter of this collation can follow.
  void require_fit(Collation collation) const;

  // The triggers of the bloom table of this name.
  void install(const std::string& table) const;
  void uninstall(const std::string& table) const;
  // Whether they are all there. The source and its columns are then those that they name, else
  // those of the options.
  bool find(const std::string& table);

  // Calls f(key) for each row whose key is not NULL. Throws SqliteError.
  void for_each_key(const std::function<void(const sqlite::Value&)>& f) const;

 private:
  struct ColumnFacts;

  // Null if it is an ordinary table.
  const char* what_else_it_is() const;
  std::string qualified(std::string_view name) const;
  std::string key_of(std::string_view row) const;
  std::string update_clause() const;
  std::string collation_name(const std::string& column) const;
  ColumnFacts facts_of(const std::string& column) const;

  sqlite3* db_;
  std::string schema_;
  SourceNames stated_;
  SourceNames names_;
};

}  // namespace bloom
