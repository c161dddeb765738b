// What the cells of a filter tell about its keys. Reads the whole filter once.
#pragma once

#include <cstdint>

#include "core/filter.h"

namespace bloom {

struct Estimate {
  double fill = 0;          // share of cells that are not 0
  double keys = 0;          // distinct keys, from the fill of each block
  double fpr = 0;           // the rate to expect now
  std::uint64_t stuck = 0;  // counting: counters that have lost count
};

// keys: the sum over blocks of ln(1 - fill) / (k ln(1 - 1/b)), the n that most likely leaves this
// fill (S. Swamidass, P. Baldi, doi:10.1021/ci600526a). A full block counts as half a cell short.
// fpr: the mean over blocks of fill^k, or of the product of its slices' fills.
Estimate estimate(const FilterView& filter);

// Whether so many keys are more than the filter was sized for, beyond what the spread of the
// estimate explains (three standard errors).
bool overfull(const Header& header, double keys);

}  // namespace bloom
