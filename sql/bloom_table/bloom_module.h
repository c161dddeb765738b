// The module bloom, and the function bloom_explain(), which reads its tables.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

// Register them on a connection. Throw SqliteError if SQLite refuses it.
void add_bloom_module(sqlite3* db);
void add_explain_function(sqlite3* db);

}  // namespace bloom
