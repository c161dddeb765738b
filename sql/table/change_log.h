// The change log of a bloom table whose source any program may write to (writers=any):
//
// <name>_pending(id INTEGER PRIMARY KEY, token, added, key1, ...)
//
// Triggers in plain SQL append a row for each key that is added to the source (added = 1) or
// removed from it (added = 0). key1, ... are the values of the columns. The command 'merge' moves
// the changes into the filter. Until then a lookup also reads the added keys of the log.
//
// The log is an ordinary table, not a shadow table: SQLITE_DBCONFIG_DEFENSIVE makes shadow tables
// read-only, for triggers as well.
//
// A connection caches the added keys of the rows it has read, and reads only newer rows later. A
// rollback or a merge may meanwhile have removed rows, and new rows may have reused their ids. The
// connection detects this by the last row that it has read: the random token of that row is then
// gone. If that row is still there, all rows before it are unchanged, because neither a rollback
// nor a merge removes a row and keeps a newer one. The tokens come from randomblob(), because some
// applications replace random() by their own function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/filter.h"
#include "core/layout/shape.h"
#include "sql/sqlite/statement.h"

namespace bloom {

// A set of keys in memory that has false positives but no false negatives. Uses 2.5 KB for up to
// 1,000 keys, and 2.5 to 15 bytes per key for more.
class KeySketch {
 public:
  void add(Hash hash);
  bool may_contain(Hash hash) const;
  void clear();

 private:
  std::vector<Filter> filters_;  // each larger than the one before
  std::uint64_t free_keys_ = 0;  // keys that still fit into the last filter
};

class ChangeLog {
 public:
  static constexpr std::string_view kSuffix = "_pending";

  ChangeLog(sqlite3* db, std::string schema, const std::string& table)
      : db_(db), schema_(std::move(schema)), name_(table + std::string(kSuffix)) {}

  // Functions that run SQL throw SqliteError: SQLITE_CORRUPT_VTAB if the log is not as it was made.

  // Makes an empty log for keys of `columns` columns. If such a log exists, deletes its rows
  // instead.
  void create(std::size_t columns);
  // Returns whether there is a log: for keys of any number of columns, or of `columns` columns.
  bool exists() const { return definition().starts_with(kColumns); }
  bool exists(std::size_t columns) const;
  void drop();
  void rename(const std::string& table);

  // Call when the log may have changed since it was read last.
  void expire() { is_current_ = false; }
  // Returns whether the log may contain an added key with this hash. `shape`: that of the filter.
  bool may_contain(Hash hash, const Shape& shape) {
    if (!is_current_) {
      read_new_rows(shape);
    }
    return added_keys_.may_contain(hash);
  }

  // Calls f(added, hash) for each row in order. Rows without a key are left out. Also calls f once
  // with noncanonical_marker() if an added key is a text such as '05' (see
  // is_noncanonical_number()).
  using EachChange = std::function<void(bool added, Hash hash)>;
  void for_each_change(const Shape& shape, const EachChange& f) const;
  // Returns the number of rows.
  std::uint64_t size() const;
  // Deletes all rows.
  void clear();

 private:
  // A row of the log, recognized by its id and token.
  struct Position {
    std::int64_t id;
    std::vector<std::uint8_t> token;

    bool matches(const sqlite::Execution& row) const;
    void set_to(const sqlite::Execution& row);
  };

  // What the definition of every log begins with, after the name.
  static constexpr std::string_view kColumns = "(id INTEGER PRIMARY KEY, token, added";

  std::string qualified() const;
  std::string definition() const;
  std::string change_column_list() const;  // "added, key1, ..."
  static std::string column_list(std::size_t columns);
  void read_new_rows(const Shape& shape);
  bool read_from(std::int64_t id, const Shape& shape);

  sqlite3* db_;
  std::string schema_;
  std::string name_;
  std::optional<sqlite::Statement> select_;
  bool is_current_ = false;
  std::optional<Position> last_read_;
  KeySketch added_keys_;
};

}  // namespace bloom
