#include "sql/group_table/group_columns.h"

#include "core/support/error.h"
#include "sql/group_table/group_table.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/hidden_type.h"

namespace bloom {
void require_group_name(const char* name) {
  const auto refuse_if_taken = [&](const char* column) {
    if (sqlite3_stricmp(name, column) == 0) {
      fail("a table cannot be called " + sqlite::quoted_text(name) +
           ": it has a column of this name (choose another name)");
    }
  };
  for (const char* column : {"member", "key"}) {
    refuse_if_taken(column);
  }
  for (const auto& column : GroupTable::Cursor::hidden_columns()) {
    refuse_if_taken(column.name);
  }
}

// The primary key is the hidden column for commands, which returns the identity of the row (see
// GroupTable::Cursor::return_row_identity). It is not the column member: a lookup of several keys
// can return a member several times, and SQLite relies on the primary key for DISTINCT and OR.
std::string declared_group_columns(const char* table, const GroupColumnTypes& types) {
  std::string columns = "CREATE TABLE x(member ";
  columns.append(types.member).append(" COLLATE ").append(name_of(types.member_collation));
  columns.append(", key ").append(hidden_type(types.key, types.key_collation));
  columns.append(declare(GroupTable::Cursor::hidden_columns()));
  columns.append(", ").append(sqlite::quoted_name(table));
  return columns + " BLOB HIDDEN PRIMARY KEY) WITHOUT ROWID";
}

void refuse_group_properties(const sqlite::Values& columns) {
  for (const auto& property : GroupTable::Cursor::hidden_columns()) {
    if (!group_column(columns, property.column).is_null() &&
        property.column != GroupColumn::filter) {
      fail("the column " + std::string(property.name) +
           " is read-only (INSERT a member with a key or a filter, or a command)");
    }
  }
}

}  // namespace bloom
