// Errors about tables that were renamed while a statement runs, and about shadow tables that are
// missing, or not as the extension wrote them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/layout/format.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/statement.h"

namespace bloom {

// Throws SqliteError(SQLITE_ABORT). Call if the name of the table has come to mean another table,
// or none, while a statement runs (see ShadowTables::require_same_table()).
[[noreturn]] inline void refuse_renamed() {
  throw sqlite::SqliteError(
      SQLITE_ABORT, "the table was renamed while the statement ran (run the statement again)");
}

[[noreturn]] inline void throw_damaged(const std::string& text) {
  throw sqlite::SqliteError(SQLITE_CORRUPT_VTAB, text);
}

// Returns the header of a filter that a config has.
inline Header header_in_config(ByteView bytes) {
  const auto header = read_header(bytes);
  if (const auto* problem = std::get_if<Problem>(&header)) {
    throw_damaged("the header in the config is damaged (" + problem->text + ")");
  }
  return std::get<Header>(header);
}

// Returns the blob in a column. Throws if the column is not a blob of `size` bytes; name() then
// names it.
template <typename Name>
std::span<const std::uint8_t> sized_blob(const sqlite::Execution& row, int column, std::size_t size,
                                         Name&& name) {
  if (row.type(column) != SQLITE_BLOB) {
    throw_damaged(name() + " must be a blob, is none");
  }
  const auto bytes = row.blob(column);
  if (bytes.size() != size) {
    throw_damaged(name() + " must have " + std::to_string(size) + " bytes, has " +
                  std::to_string(bytes.size()));
  }
  return bytes;
}

}  // namespace bloom
