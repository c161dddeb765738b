#pragma once

struct sqlite3;

namespace bloom::bench {

// Registers the module of appended.cc. Returns a result code of SQLite.
int register_appended(sqlite3* db);

}  // namespace bloom::bench
