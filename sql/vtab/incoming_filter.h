// Filters that are merged into a table: INSERT INTO t(filter) VALUES (...).
#pragma once

#include <string_view>

#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "core/support/interrupt_check.h"

namespace bloom {

// Returns `added` in the shape of `target`, to be merged into that filter. Throws bloom::Error if
// the two are not compatible. Also throws if `added` must be halved for that, and has more keys
// than `target` is sized for. `target_name` names the target in errors, for example "the table".
Filter fit_incoming_filter(const FilterView& added, const Header& target,
                           std::string_view target_name, const InterruptCheck& check_interrupt);

}  // namespace bloom
