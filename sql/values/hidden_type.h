// How a virtual table declares a hidden column that can be compared.
#pragma once

#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "sql/sqlite/api.h"

namespace bloom {

// To remove HIDDEN from the type of a column, SQLite moves the text behind it to the left by seven
// bytes, and leaves the last seven bytes of the buffer as they were: six characters and the NUL.
// Since 3.37 it then reads these as the collation, whatever COLLATE says. So the type ends with the
// name of the collation, which must have six bytes, as binary and nocase have: HIDDEN TEXT nocase
// becomes TEXT nocase, and the buffer still ends with nocase. The name rtrim has only five bytes,
// so its type ends with kRtrimAlias, a collation that every connection gets from us. With another
// end, the column would have no collation, and a comparison would use that of the other operand.
inline constexpr char kRtrimAlias[] = "rtrim_";
// Registers that collation. Throws SqliteError.
void add_rtrim_alias(sqlite3* db);
// Returns "rtrim" for that alias, and any other name as it is.
inline const char* without_alias(const char* name) {
  return sqlite3_stricmp(name, kRtrimAlias) == 0 ? "rtrim" : name;
}

// Returns the type and the collation of a hidden column that can be compared. `type`: TEXT, or
// another one that names an affinity. If it is empty, the type is BLOB: HIDDEN alone is NUMERIC.
std::string hidden_type(std::string_view type, Collation collation);

}  // namespace bloom
