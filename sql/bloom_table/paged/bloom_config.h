// The config of a bloom table, and the values of its config table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/filter/layers.h"
#include "core/hashing/composite_key.h"
#include "core/support/bytes.h"
#include "sql/source/triggers/trigger_sql.h"

namespace bloom {

struct BloomConfig {
  Layers layers;  // at least one
  // Whether another counting filter was merged in. The sum of the counters can then not be checked.
  bool has_merged_filter = false;
  // Which triggers are on the source: see TriggerSet::number. 0 without a source, and in
  // files of version 1.0.
  std::uint64_t trigger_set_number = 0;
  // Name of the guard index on the source: see GuardIndex. Empty without a source, and in files of
  // version 1.0.
  std::string guard_index = {};
  // Name of the trigger that may have kept keys of the source from being added. Empty if no key is
  // missed.
  std::string blocking_trigger = {};
  // The collations of the columns of a composite key. Empty for a key of one column. Also empty for
  // a composite key of earlier versions, whose columns are all BINARY, and whose filter may lack
  // noncanonical_marker().
  PartCollations parts = {};
  // Whether the rows are counted. False in files of version 1.0, until all rows are written again.
  bool counts_rows = true;
  // Whether the table has a row log (sql/vtab/row_log.h), and whether it may have rows. Tables of
  // earlier versions have none, until 'clear' or 'rebuild'.
  bool has_row_log = true;
  bool row_log_has_rows = false;

  // Whether the table has a change log (sql/source/change_log.h).
  bool has_change_log() const { return trigger_set_number == kTriggersForAny; }
};

// The following throw SqliteError(SQLITE_CORRUPT_VTAB) for values that are not valid.

// Returns the layers with these headers, one after another.
Layers parse_headers(ByteView bytes);
// Returns the same layers as generations, of which `newest` is the newest.
Layers as_generations(const Layers& layers, std::optional<std::int64_t> newest);

// Returns the version of a table, which is stored. Older programs refuse a version that they do not
// know.
std::int64_t version_of(const BloomConfig& config);
// Throws bloom::Error for a version that this build does not know.
void require_known(std::optional<std::int64_t> version);
bool counts_rows(std::int64_t version);
bool has_generations(std::int64_t version);
bool has_parts(std::int64_t version);
bool row_log_has_rows(std::int64_t version);

}  // namespace bloom
