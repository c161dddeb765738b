// The module bloom_groups.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Registers the module on a connection. Throws SqliteError if SQLite refuses it.
void add_group_module(sqlite3* db);

}  // namespace bloom
