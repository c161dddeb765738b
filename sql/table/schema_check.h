// Remembers that what a filter needs in the schema was found as the filter made it: the triggers on
// its source, the guard index, and the table that the triggers write to. Looking for them takes
// longer than a lookup.
//
// For one object of a virtual table, a schema version stands for one schema. SQLite reuses a
// version only after the rollback of a schema change, and then makes new objects of all virtual
// tables.
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
  // Returns whether the schema is the one of the last call of passed().
  bool is_passed(Source& source) {
    is_current_ = is_current_ || (version_ && version_ == source.schema_version());
    return is_current_;
  }
  // Call when everything was found as it was made.
  void passed(Source& source) {
    is_current_ = true;
    version_ = source.schema_version();
  }

 private:
  bool is_current_ = false;  // no statement was prepared since
  std::optional<std::int64_t> version_;
};

}  // namespace bloom
