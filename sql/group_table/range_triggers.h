// The triggers by which a bloom_groups table notes which ranges of rows have changed.
#pragma once

#include <string>
#include <vector>

#include "sql/source/source.h"
#include "sql/source/trigger_sql.h"

namespace bloom {

std::vector<Trigger> triggers_that_note_ranges(const Source& followed, const std::string& table);

}  // namespace bloom
