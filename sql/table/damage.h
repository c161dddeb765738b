// Errors about shadow tables that are missing, or not as the extension wrote them.
#pragma once

#include <string>

#include "sql/sqlite/guard.h"

namespace bloom {

// The code for shadow tables that are missing or not as they were created.
inline constexpr int kSchemaDamaged = SQLITE_CORRUPT_VTAB;

// Throws SqliteError(SQLITE_CORRUPT_VTAB).
[[noreturn]] inline void damaged(const std::string& text) {
  throw sqlite::SqliteError(SQLITE_CORRUPT_VTAB, text);
}

}  // namespace bloom
