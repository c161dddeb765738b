// Filters that are merged into a table: INSERT INTO t(filter) VALUES (...).
#pragma once

#include <string_view>

#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "core/support/interrupt_check.h"

namespace bloom {

// Returns `added` in the shape of `own`, the filter that it is to be merged into. Throws
// bloom::Error if the two are not compatible, or if `added` would have to be halved and has more
// keys than `own` is sized for. `owner` is the name of `own` in errors: "the table".
Filter fit_incoming_filter(const FilterView& added, const Header& own, std::string_view owner,
                           const InterruptCheck& check_interrupt);

}  // namespace bloom
