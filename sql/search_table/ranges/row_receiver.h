// Passes rows of a source to an object, by an SQL function in the WHERE of a query. A call of a
// function takes less time than a call of sqlite3_step() that returns a row.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sql/search_table/search_source.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"

namespace bloom {

class RowReceiver {
 public:
  RowReceiver() = default;
  RowReceiver(const RowReceiver&) = delete;
  RowReceiver& operator=(const RowReceiver&) = delete;
  virtual ~RowReceiver() = default;

  // Gets the rowid and the values of the searched columns. Returns false to see no more rows.
  virtual bool add_row(std::int64_t rowid, const sqlite::Values& values) = 0;
};

// Throws the failure of a statement that reads rows, unless it is that of an expression or a
// generated column that cannot be computed for a row.
void throw_unless_row_failed(const sqlite::Outcome& outcome);

// Reads the rows of some range in the order of their rowids. An expression or a generated column
// may call a function of the host that writes to the rows.
class RowFeed {
 public:
  // `items`: numbers of items of the options. Requires: `source` outlives the feed.
  RowFeed(const SearchSource& source, std::span<const std::size_t> items);

  // Returns false if the receiver did not want more rows. Throws SqliteError, for example because
  // an expression fails for a row, or because the receiver has thrown. The code is SQLITE_ERROR for
  // an expression that fails, and also for a bloom::Error of the kind `invalid`.
  bool read(RowidRange rows, RowReceiver& receiver);
  // Returns whether anyone but the receivers has written to the database within a call of read().
  bool was_disturbed() const { return was_disturbed_; }
  // Throws SqliteError(SQLITE_ABORT) if was_disturbed().
  void require_undisturbed() const;

 private:
  const SearchSource& source_;
  sqlite::Statement select_;
  bool was_disturbed_ = false;
};

// Registers the SQL function. Throws SqliteError.
void add_row_receiver_function(sqlite3* db);

}  // namespace bloom
