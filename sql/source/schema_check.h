// A virtual table with a source checks the schema: whether triggers, guard index and side table are
// as the extension created them. This check takes longer than a lookup. A SchemaCheck remembers the
// state of the schema at which the check last passed.
#pragma once

#include <optional>

#include "sql/source/source.h"

namespace bloom {

class SchemaCheck {
 public:
  // Call when a statement is prepared, and before a command. SQLite prepares lookups again after a
  // schema change. It does not report that it prepares an INSERT.
  void expire() { is_current_ = false; }
  // Returns whether the schema is the same as at the last call of set_passed(). Looks at the schema
  // only if the connection has changed rows since it looked last: no trigger can miss a change
  // otherwise.
  bool still_passes(Source& source) {
    if (!is_current(source)) {
      is_current_ = state_ && state_ == source.schema_state();
      changes_ = sqlite3_total_changes(source.db());
    }
    return is_current_;
  }
  // Returns whether still_passes() is true without a look at the schema.
  bool is_current(const Source& source) const {
    return is_current_ && changes_ == sqlite3_total_changes(source.db());
  }
  // Call after the check has passed.
  void set_passed(Source& source) {
    is_current_ = true;
    state_ = source.schema_state();
    changes_ = sqlite3_total_changes(source.db());
  }

 private:
  bool is_current_ = false;  // the state was compared since a statement was prepared
  int changes_ = 0;          // sqlite3_total_changes() when the state was compared
  std::optional<Source::SchemaState> state_;  // at the last set_passed()
};

}  // namespace bloom
