// What the connection that calls us is doing.
#pragma once

#include <string_view>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// Whether the connection has a write transaction open on this schema. A schema that is not known
// counts as written.
bool is_writing(sqlite3* db, const char* schema);

// How many statements of the connection are running that may write. A write handle of
// sqlite3_blob_open() is one as well. Takes some 10 ns for each prepared statement.
int running_writers(sqlite3* db);

// Whether exactly one statement that may write is running, and it gives no rows. Such a statement
// runs from here to its end within one sqlite3_step(), so the application cannot do anything else
// with the connection before that.
bool runs_to_its_end(sqlite3* db);

// Whether the only running statement that may write changes this table through a trigger, since it
// does not name the table. Such a statement has a savepoint of its own in an explicit transaction.
bool writes_through_trigger(sqlite3* db, std::string_view table);

// Rolls the whole transaction back while a statement of it is running, which then fails. Returns
// whether that worked.
bool roll_back(sqlite3* db);

// Whether a connection sees what others have not committed: those that share its cache, under
// PRAGMA read_uncommitted.
class ReadUncommitted {
 public:
  // Call whenever a statement is prepared: SQLite prepares all of them again after the pragma has
  // changed.
  void statement_was_prepared() { checks_ = 0; }
  // Call at the beginning of each statement. To ask for the pragma takes 2 us. A statement that
  // runs once is spared that unless the cache is shared; one that runs often asks once.
  bool check(sqlite3* db);

 private:
  int checks_ = 0;  // since then; up to 2
  bool is_on_ = false;
};

}  // namespace bloom::sqlite
