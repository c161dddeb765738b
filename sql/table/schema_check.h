// A virtual table with a source checks its schema: the triggers on the source, the guard index, and
// the table that the triggers write to must exist as the extension created them. This check takes
// longer than a lookup. A SchemaCheck remembers the schema version at which the check last passed.
//
// The version is sufficient: during the life of a virtual-table object, two different schemas never
// have the same version. SQLite reuses a version only after the rollback of a schema change, and
// then makes new objects of all virtual tables.
#pragma once

#include <cstdint>
#include <optional>

#include "sql/table/source.h"

namespace bloom {

class SchemaCheck {
 public:
  // Call when a statement is prepared, and before a command. SQLite prepares lookups again after a
  // schema change. It does not report that it prepares an INSERT.
  void expire() { is_current_ = false; }
  // Returns whether the schema is the same as at the last call of set_passed().
  bool is_passed(Source& source) {
    is_current_ = is_current_ || (version_ && version_ == source.schema_version());
    return is_current_;
  }
  // Call after the check has passed.
  void set_passed(Source& source) {
    is_current_ = true;
    version_ = source.schema_version();
  }

 private:
  bool is_current_ = false;              // no statement was prepared since the version was compared
  std::optional<std::int64_t> version_;  // at the last set_passed()
};

}  // namespace bloom
