// The columns of a bloom_groups table.
#pragma once

#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "sql/sqlite/value.h"

namespace bloom {

// All but `member` are hidden. The column for commands has the name of the table. `key` is the
// first hidden column, so that FROM who('x') looks up a key.
enum class GroupColumn : int {
  member,
  key,
  filter,
  // The properties, which are read-only.
  keys,
  fpr,
  capacity,
  bytes,
  overfull,
  info,
  pending,
  command,
};

inline sqlite::Value group_column(const sqlite::Values& columns, GroupColumn column) {
  return columns[static_cast<int>(column)];
}

// Throws bloom::Error if a table cannot have this name, because it has a column of this name.
void require_group_name(const char* name);

// Types and collations of the columns `member` and `key`. An empty type means that `member` has
// none, and `key` has BLOB.
struct GroupColumnTypes {
  std::string_view member;
  Collation member_collation = Collation::binary;
  std::string_view key;
  Collation key_collation = Collation::binary;
};
// Returns the CREATE TABLE statement to declare to SQLite.
std::string declared_group_columns(const char* table, const GroupColumnTypes& types);

// Throws bloom::Error if a row that is inserted has a value in a column that is read-only.
void refuse_group_properties(const sqlite::Values& columns);

}  // namespace bloom
