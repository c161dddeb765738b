// The values in the shadow table <name>_config of a bloom_groups table.
#pragma once

#include <string>

#include "core/hashing/composite_key.h"
#include "sql/segments/segment_config.h"

namespace bloom {

struct GroupConfig : SegmentConfig {
  // If the members follow a source: the name of the guard index, and the collations of the columns
  // of a composite key.
  std::string guard_index = {};
  PartCollations parts = {};
  // Whether the table has a row log (sql/vtab/row_log.h), and whether it may have rows.
  bool has_row_log = true;
  bool row_log_has_rows = false;
};

}  // namespace bloom
