// The hidden columns of a virtual table that describe it. A table lists them in one place: name,
// type, and the function of the cursor that computes the value. The declaration and what a cursor
// returns follow from the list.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "core/support/ascii.h"
#include "sql/sqlite/context.h"

namespace bloom {

// `Column`: the enum of the table's columns.
template <typename Column, typename Cursor>
struct HiddenColumn {
  Column column;
  const char* name;
  const char* type;  // as declared
  void (*set_result)(Cursor& cursor, sqlite::Context& context);
};

// Returns whether the list has each column from `first` on and before `end` once, in this order.
// For a static_assert beside the list.
template <typename Hidden, std::size_t n, typename Column>
constexpr bool are_columns(const Hidden (&list)[n], Column first, Column end) {
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<int>(list[i].column) != static_cast<int>(first) + static_cast<int>(i)) {
      return false;
    }
  }
  return static_cast<int>(first) + static_cast<int>(n) == static_cast<int>(end);
}

// Returns the declarations for CREATE TABLE: ", keys INTEGER HIDDEN, ...".
template <typename Hidden>
std::string declare(std::span<const Hidden> list) {
  std::string columns;
  for (const Hidden& each : list) {
    columns.append(", ").append(each.name).append(" ").append(each.type).append(" HIDDEN");
  }
  return columns;
}

// SQLite removes HIDDEN from the type of a column by moving the rest to the front. Since 3.37 it
// then takes the last six bytes of the old text for the collation, whatever COLLATE says. So the
// type also ends with the collation: binary and nocase have six letters. rtrim has five, and is
// compared under this name, which every connection has. Without such an end, a comparison would use
// the collation of its other side.
inline constexpr char kRtrimAlias[] = "rtrim_";
// Registers that collation. Throws SqliteError.
void add_rtrim_alias(sqlite3* db);
// Returns the name of the collation that SQLite calls `name`.
inline const char* without_alias(const char* name) {
  return sqlite3_stricmp(name, kRtrimAlias) == 0 ? "rtrim" : name;
}

// Returns the type and the collation of a hidden column that can be compared. `type`: TEXT, or
// another one that names an affinity. If it is empty, the type is BLOB: HIDDEN alone is NUMERIC.
inline std::string hidden_type(std::string_view type, Collation collation) {
  const std::string_view name = name_of(collation);
  std::string declared = "HIDDEN ";
  declared.append(type.empty() ? "BLOB" : type).append(" ");
  declared.append(collation == Collation::rtrim ? kRtrimAlias : name);
  return declared.append(" COLLATE ").append(name);
}

// Returns the column of this name, in any case; null if there is none.
template <typename Hidden>
const Hidden* find_column(std::span<const Hidden> list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Hidden& each) {
    return equal_ignoring_case(each.name, name);
  });
  return found == list.end() ? nullptr : &*found;
}

// Computes column `i`. Returns false if it is not in the list.
template <typename Hidden, typename Cursor>
bool set_result(std::span<const Hidden> list, int i, Cursor& cursor, sqlite::Context& context) {
  const int first = static_cast<int>(list.front().column);
  if (i < first || i - first >= static_cast<int>(list.size())) {
    return false;
  }
  const Hidden& column = list[static_cast<std::size_t>(i - first)];
  assert(static_cast<int>(column.column) == i);
  column.set_result(cursor, context);
  return true;
}

}  // namespace bloom
