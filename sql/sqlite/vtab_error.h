// Error reporting of the callbacks of virtual tables.
#pragma once

#include "sql/sqlite/api.h"
#include "sql/sqlite/guard.h"

namespace bloom::sqlite {

// Sets "<name>: <text>" as the error message of a table. Returns the result code that the callback
// must return.
inline int report_error(sqlite3_vtab* table, const char* name, const Failure& failure) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = error_message(name, failure);
  return failure.text != nullptr && table->zErrMsg == nullptr ? SQLITE_NOMEM : failure.code;
}

}  // namespace bloom::sqlite
