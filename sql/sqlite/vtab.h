// Error reporting of all virtual tables.
#pragma once

#include "sql/sqlite/api.h"
#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// Returns "<name>: <what>" in memory from sqlite3_malloc(), as SQLite requires for error messages.
// Returns null if there is no text or no memory.
inline char* error_text(const char* name, const Failure& failure) {
  return failure.text == nullptr ? nullptr : sqlite3_mprintf("%s: %s", name, failure.text);
}

// Sets the error message of a table. Returns the result code for the callback to return.
inline int report(sqlite3_vtab* table, const char* name, const Failure& failure) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = error_text(name, failure);
  return failure.text != nullptr && table->zErrMsg == nullptr ? SQLITE_NOMEM : failure.code;
}

}  // namespace bloom::sqlite
