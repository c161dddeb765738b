#pragma once

struct sqlite3;

namespace bloom::bench {

// Registers the module of pass_through.cc. Returns a result code of SQLite.
int register_pass_through(sqlite3* db);

}  // namespace bloom::bench
