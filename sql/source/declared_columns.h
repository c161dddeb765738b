// The followed columns as they were when a connection opened the virtual table. The types and
// collations that the virtual table declares to SQLite come from them. SQLite keeps these until it
// opens the table again, also if the source is dropped and created with other columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sql/source/source.h"

namespace bloom {

class DeclaredColumns {
 public:
  DeclaredColumns() = default;
  explicit DeclaredColumns(const Source& source);

  const ColumnRules& rules(std::size_t column) const { return columns_[column].rules; }
  // Returns which column of the source is not what it was, for error messages: "the column 'k' of
  // 't' had another name, type or collation". nullopt if SQLite compares all as declared. A column
  // that was renamed counts as changed only if another one now has its old name. A column that the
  // source no longer has does not count.
  std::optional<std::string> changed(const Source& now) const;

 private:
  struct Column {
    std::string name;
    ColumnRules rules;
  };
  std::vector<Column> columns_;
};

// Returns an error message for `changed` columns of the virtual table `table`.
std::string reopening_message(const std::string& changed, const std::string& table);

}  // namespace bloom
