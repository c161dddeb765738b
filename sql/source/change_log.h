// The change log of a source that any SQLite program may write to (writers=any):
//
// <name>_pending(id INTEGER PRIMARY KEY, token, added, key1, ...), see SideTable
//
// Triggers in plain SQL append a row for each key that is added to the source, and for each that is
// removed from it if the virtual table can remove keys or members. `added` is a ChangeLog::Change.
// key1, ... are the values of the columns. The command 'merge' moves the changes into the virtual
// table. Until then a lookup also reads the added keys of the log. A derived class says what it
// keeps of the rows.
//
// An announcement is the key that the BEFORE trigger of an UPDATE sees. The row may get another
// key, which is not known yet (see source_triggers.h). So until the announcement is void or merged,
// a row may have a key that the log does not have.
//
// A connection caches what it has read, and reads only newer rows later. A rollback or a merge may
// meanwhile have removed rows, and new rows may have reused their ids. The connection detects this
// by the random tokens of some rows that it has read. If such a row is still there, no row before
// it is new: a rollback removes the newest rows, and a merge gives new tokens to the old rows that
// it keeps. The connection then reads the rows after it again. The tokens come from randomblob(),
// because some applications replace random() by their own function.
//
// An authorizer can hide columns: SQLite then reads NULL in their place. Functions that read keys
// throw then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/sqlite/statement.h"

namespace bloom {

struct SideTable;

class ChangeLog {
 public:
  static constexpr std::string_view kSuffix = "_pending";
  static constexpr std::size_t kTokenBytes = 8;
  // What the definition of every log begins with, after the name.
  static constexpr std::string_view kColumns = "(id INTEGER PRIMARY KEY, token, added";

  // The values of the column `added`. kVoid: an announcement that has ended. kKept: the row of a
  // removed key, kept by a merge.
  enum Change { kRemoved = 0, kAdded = 1, kAnnounced = 2, kVoid = 3, kKept = 4 };

  ChangeLog(sqlite3* db, std::string schema, const std::string& table)
      : db_(db), schema_(std::move(schema)), name_(table + std::string(kSuffix)) {}
  ChangeLog(const ChangeLog&) = delete;
  ChangeLog& operator=(const ChangeLog&) = delete;
  virtual ~ChangeLog() = default;

  // Functions that run SQL throw SqliteError, with SQLITE_CORRUPT_VTAB if the log is not as it was
  // made, and bloom::Error if it lacks rows.

  // The log as SourceLink makes it, for keys of `columns` columns.
  static SideTable side_table(std::size_t columns);
  // Call when SourceLink renames the table.
  void rename(const std::string& table);

  // Call when the log may have changed since it was read last.
  void expire() { is_current_ = false; }
  // Returns whether an announcement is neither void nor merged.
  bool has_announcement() const;

  static constexpr std::int64_t kLastId = std::numeric_limits<std::int64_t>::max();
  // Calls f(change, row, first) for each row up to the id `last`, in order. `first` is the number
  // of the column key1.
  using EachRow = std::function<void(Change change, const sqlite::Execution& row, int first)>;
  void for_each_row(const EachRow& f, std::int64_t last = kLastId) const;
  // Returns the number of rows, computed from the first and the last id. An upper bound if a merge
  // has kept rows.
  std::uint64_t size() const;
  // Deletes the rows up to the id `last`, apart from those that `keep` names. Of removed keys with
  // the same key1, announcements_and_removals keeps one row. Throws bloom::Error if a row that is
  // to be deleted stays, because of a trigger on the log.
  enum class Keep { nothing, announcements, announcements_and_removals };
  void clear(Keep keep = Keep::nothing, std::int64_t last = kLastId);

 protected:
  sqlite3* db() const { return db_; }
  const std::string& name() const { return name_; }
  std::string qualified() const;
  sqlite::Statement::FindDamage find_damage() const;

  // Reads the rows that are new since the last call, unless nothing has changed. Stops after
  // `most` rows. Returns whether all were read.
  bool read_new_rows(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    if (!is_current_) {
      read_rows(most);
    }
    return is_current_;
  }
  // Returns whether an announcement that was read is not void.
  bool knows_announcement() const { return !announcements_.empty(); }
  // Forgets all rows: the next call of read_new_rows() reads them again.
  void forget();

  // What a derived class keeps of the rows. add_key() gets each added or announced key. They
  // are kept in the order of the log, and keys_read() returns how many there are. keep_keys(n) is
  // called when only the first n of them are still in the log. It drops the others, or returns
  // false: then all rows are read again. forget_keys() forgets all.
  virtual void add_key(const sqlite::Execution& row, int first) = 0;
  virtual std::uint64_t keys_read() const = 0;
  virtual bool keep_keys(std::uint64_t n) = 0;
  virtual void forget_keys() = 0;

 private:
  // A row of the log, recognized by its id and token.
  struct Position {
    std::int64_t id;
    std::vector<std::uint8_t> token;
    std::uint64_t keys_read;  // up to this row

    bool matches(const sqlite::Execution& row) const;
  };

  struct RowSelect {
    std::optional<sqlite::Statement> select;
    std::optional<int> repreparations_when_readable;  // when no authorizer hid columns
  };

  void require_readable() const;
  void prepare(RowSelect& rows) const;
  bool begin_reading(RowSelect& rows, std::optional<sqlite::Execution>& run);
  std::string definition() const;
  std::string change_column_list() const;  // "added, key1, ..."
  void read_rows(std::uint64_t most);
  bool read_from_last(std::uint64_t most);
  void keep_position(const Position& last);
  void forget_last();
  bool is_announcement(std::int64_t id);

  sqlite3* db_;
  std::string schema_;
  std::string name_;
  RowSelect select_all_;
  RowSelect select_from_;  // from the id ?1 on
  std::optional<sqlite::Statement> select_change_;
  bool is_current_ = false;  // all rows were read
  // Some of the rows that were read, in ascending order: the last one, and ever fewer of the older
  // ones.
  std::vector<Position> positions_;
  std::vector<std::int64_t> announcements_;  // ids of those that are not void
};

}  // namespace bloom
