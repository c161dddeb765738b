// Folding: shrinks a filter to the size that its keys need, by halving it several times.
#pragma once

#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "core/operations/estimate_result.h"
#include "core/support/interrupt_check.h"

namespace bloom {

// Returns how many times a filter with this header and these keys can be halved while its predicted
// FPR stays at or below `fpr`. Returns 0 if the FPR already exceeds `fpr`, and if the number of
// keys is unknown.
unsigned times_foldable(const Header& header, const Estimate& now, double fpr);

// Returns the header of the filter after it was halved `times` times. Its target becomes `fpr`,
// with the capacity at that FPR. With the old target, the folded filter could seem overfull. The
// target FPR stays as it is if `times` is 0, if the capacity is unknown, or if the old target is
// higher than `fpr`. Requires: `times` is at most
// times_halvable(header.shape).
Header folded(const Header& header, unsigned times, double fpr);

// Halves f as often as times_foldable() says, for the number of keys that estimate() returns.
// Throws std::bad_alloc and what `check_interrupt` throws.
Filter fold(const FilterView& f, double fpr, const InterruptCheck& check_interrupt = {});

}  // namespace bloom
