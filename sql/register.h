// Everything that SQL sees, added to one connection.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Returns an SQLite result code.
int register_all(sqlite3* db);

}  // namespace bloom
