// The row log of a virtual table. Single-row statements of a transaction append their rows to it:
// changing another, larger page for each row takes longer.
//
// <name>_rowlog(id INTEGER PRIMARY KEY, row BLOB)
//
// The rows are part of SQLite's pages, so SQLite rolls them back, saves and copies them like any
// others. The table merges them into its other rows when there are many, and before the transaction
// commits. Rows stay in the log if the commit is interrupted, cannot write (PRAGMA query_only, an
// authorizer) or follows a refused sqlite3_close(), or if the object cannot read the log: see
// log_is_out_of_reach(). So a table that is opened reads the log, if its config says that there are
// rows.
//
// The ids are consecutive. A merge removes all rows. A rollback removes the newest ones, or brings
// back those that a merge has removed. So one id can stand for a row that a merge removed, and for
// one that was appended later. A copy of the log in memory must tell them apart.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

#include "sql/sqlite/guard.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

// Returns whether the log could not be read because the table was dropped, renamed, replaced or
// damaged, or because of an authorizer or an interrupt. The commit then succeeds, and leaves the
// log. After another failure the commit must fail: after an I/O error SQLite may have rolled the
// transaction back already, and would report success.
bool log_is_out_of_reach(const sqlite::Outcome& loading);

class RowLog {
 public:
  static constexpr ShadowTable kTable = {"rowlog", "(id INTEGER PRIMARY KEY, row BLOB)", "id",
                                         "row", ShadowTable::kMayBeMissing};

  // `tables` has kTable. `writes`: a counter that rises with every write. Requires: both outlive
  // the log.
  RowLog(ShadowTables& tables, std::uint64_t& writes) : tables_(tables), writes_(writes) {}
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  // Functions throw SqliteError if a statement fails, as those of ShadowTables do. They do not
  // check the rows.

  // Makes the log of a table of an earlier version. Returns false if it cannot be made, for example
  // because another table has its name.
  bool make();
  // Appends a row. It counts in changes(), so this may be called only within a statement on the
  // virtual table itself. Without an id, the row gets the id after that of the newest row, or 1.
  // Returns the id.
  std::int64_t append(std::span<const std::uint8_t> row,
                      std::optional<std::int64_t> id = std::nullopt);
  // Returns an id for the first row of a log. It is random: a rollback can bring back rows that
  // another object or connection had appended, and a new row must not have the id of one of them.
  static std::int64_t first_id();
  struct Ids {
    std::int64_t first;
    std::int64_t last;
  };
  std::optional<Ids> ids();
  using EachRow = std::function<void(std::int64_t id, std::span<const std::uint8_t> row)>;
  // Calls f(id, row) for each row from the id `first` on, in order.
  void for_each(const EachRow& f, std::int64_t first = std::numeric_limits<std::int64_t>::min());
  // Calls f(id, row) for the newest row. Returns false if there is none.
  bool with_newest(const EachRow& f);
  // Returns whether the running statement is interrupted, or an authorizer refuses to clear the log
  // or one of `statements`, the others of a merge.
  bool is_merge_refused(std::initializer_list<const char*> statements);
  void clear();
  // Sets changes() to a value that it had before: a commit must not change it. Does nothing if
  // `changes` is above 1,000, because that takes as many writes, or if an authorizer refuses them.
  // Requires: the table <name>_config(k, v) has a row 'version'.
  void restore_changes(int changes);

 private:
  ShadowTables& tables_;
  std::uint64_t& writes_;
  // A trigger on the log could call an SQL function of the host that uses the table.
  bool is_appending_ = false;
  std::optional<sqlite::Statement> probe_;  // see is_merge_refused()
  std::optional<int>
      repreparations_when_permitted_;  // its repreparations() when a merge was not refused
};

}  // namespace bloom
