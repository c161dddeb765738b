// What all virtual tables share.
#pragma once

#include "sql/sqlite/api.h"
#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// "<name>: <what>" in memory of SQLite's, as it wants error texts; null without memory.
inline char* error_text(const char* name, const Failure& failure) {
  return failure.text == nullptr ? nullptr : sqlite3_mprintf("%s: %s", name, failure.text);
}

// Reports a failure as an error of a table; returns the result code that its method is to return.
inline int report(sqlite3_vtab* table, const char* name, const Failure& failure) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = error_text(name, failure);
  return failure.text != nullptr && table->zErrMsg == nullptr ? SQLITE_NOMEM : failure.code;
}

}  // namespace bloom::sqlite
