// Looks up keys in the source itself, by an index of it.
//
// Programs without the extension append to the change log, and a fresh connection would read all of
// it before its first lookup: 9 ms for 50,000 rows. Most sources have an index on the column, which
// answers for a single key in a few microseconds.
#pragma once

#include <optional>

#include "sql/source/source.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"

namespace bloom {

class SourceProbe {
 public:
  // Requires: `source` outlives this object.
  explicit SourceProbe(const Source& source) : source_(source) {}

  // Returns whether the source has a row with this key. Returns nullopt if that is unknown: it
  // has no index on the column, or an authorizer or a lock refuses it. Throws SqliteError.
  // Requires: the key is one column, the names of the source are up to date, and
  // SourceComparison::compares_unconverted().
  std::optional<bool> find(const sqlite::Value& value);
  // Returns whether find() uses a statement that it has prepared before.
  bool is_prepared() const { return select_.has_value(); }

 private:
  bool prepare();

  const Source& source_;
  std::optional<sqlite::Statement> select_;
  std::optional<SchemaReader::State> unusable_in_;  // the schema in which prepare() failed
};

}  // namespace bloom
