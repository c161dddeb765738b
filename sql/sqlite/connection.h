// What the connection that calls us is doing.
#pragma once

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

// Rolls the whole transaction back while a statement of it is running, which then fails. Returns
// whether that worked.
bool roll_back(sqlite3* db);

}  // namespace bloom::sqlite
