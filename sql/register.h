// Registers the extension on a connection: all SQL functions and the modules of the virtual
// tables.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Does nothing if the connection already has this version of the extension. Returns an SQLite
// result code. If it is not SQLITE_OK, sets *message to an error message to be freed with
// sqlite3_free(), or to null if memory runs out.
//
// Fails if SQLite is too old, or if the connection has another version of the extension.
int register_all(sqlite3* db, char** message);

}  // namespace bloom
