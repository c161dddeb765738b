// The values in the shadow table <name>_config of a bloom_groups table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sql/segments/segment_config.h"

namespace bloom {

struct GroupConfig : SegmentConfig {
  // Used if the members are ranges of rows (sql/group_table/row_ranges.h).
  std::optional<std::int64_t> summarized = {};  // last rowid of the last range, if there is a range
  std::string guard_index = {};                 // name of the guard index on the source
  // Whether the table has a row log (sql/vtab/row_log.h), and whether it may have rows.
  bool has_row_log = true;
  bool row_log_has_rows = false;
};

}  // namespace bloom
