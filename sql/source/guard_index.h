// The guard index of a source: a partial index on the followed columns, or on expressions, that
// contains no rows. It blocks two ways to change the columns without firing triggers:
// sqlite3_blob_write(), and ALTER TABLE ... DROP COLUMN under PRAGMA legacy_alter_table, which
// permits dropping a column that only triggers use.
//
// The index keeps its name when the source or the virtual table is renamed, and in 'rebuild':
// SQLite cannot drop an index while other statements run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/source/source.h"

namespace bloom {

class GuardIndex {
 public:
  // Requires: `source` outlives this object.
  explicit GuardIndex(Source& source) : source_(source) {}
  GuardIndex(const GuardIndex&) = delete;
  GuardIndex& operator=(const GuardIndex&) = delete;

  // Sets what the index is on, as SQL. By default it is on the columns.
  void set_items(std::vector<std::string> items) { items_ = std::move(items); }
  // Creates the index and returns its name, which no other virtual table uses.
  std::string make(const std::string& table) const;
  // Returns whether the index exists as make() makes it.
  bool exists(const std::string& name) const;
  // Returns whether this is the statement by which make() makes the index of this name.
  bool is_made_by(std::string_view sql, const std::string& name) const;
  // Returns the name of the newest index that make(table) can have made; empty if there is none.
  std::string find(const std::string& table) const;
  // Does nothing if there is no such guard index.
  void drop(const std::string& name) const;
  // Sets the names of the source to those in the index, which SQLite keeps up to date when the
  // table or a column is renamed. Does nothing if there is no such index on columns.
  void give_names_to_source(const std::string& name);

 private:
  std::string sql(const std::string& name) const;
  // Returns whether the config of a virtual table other than `table` has this name for its guard.
  bool is_of_another(const std::string& name, const std::string& table) const;

  Source& source_;
  std::vector<std::string> items_;
};

}  // namespace bloom
