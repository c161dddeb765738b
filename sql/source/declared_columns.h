// The followed columns as they were when a connection opened the virtual table. The types and
// collations that the virtual table declares to SQLite come from them. SQLite keeps these until it
// opens the table again, also if the source is dropped and created with other columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/hashing/collation.h"
#include "sql/values/affinity.h"

namespace bloom {

class Source;

class DeclaredColumns {
 public:
  DeclaredColumns() = default;
  explicit DeclaredColumns(const Source& source);

  Affinity affinity(std::size_t column) const { return columns_[column].affinity; }
  Collation collation(std::size_t column) const { return columns_[column].collation; }
  // Returns which column of the source is not what it was, for error messages: "the column 'k' of
  // 't' had another name, type or collation". nullopt if SQLite compares all as declared. A name
  // counts only if the source now has another column of that name, and a column that is missing
  // does not count.
  std::optional<std::string> changed(const Source& now) const;

 private:
  struct Column {
    std::string name;
    Affinity affinity;
    Collation collation;
  };
  std::vector<Column> columns_;
};

// Returns an error message for `changed` columns of the virtual table `table`.
std::string reopening_message(const std::string& changed, const std::string& table);

}  // namespace bloom
