// Adds all SQL functions and modules to a connection.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Does nothing if that was done before. Returns an SQLite result code. If it is not SQLITE_OK,
// `error` gets a message that SQLite must free.
int register_all(sqlite3* db, char** error);

}  // namespace bloom
