// Everything that SQL sees, added to one connection.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Does nothing where it was done before. Returns an SQLite result code; `error`, which SQLite is to
// free, says why it is not SQLITE_OK.
int register_all(sqlite3* db, char** error);

}  // namespace bloom
