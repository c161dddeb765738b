// What estimate() returns. A header of its own, because many others name it, and few estimate.
#pragma once

#include <cstdint>

#include "core/layout/format.h"

namespace bloom {

struct Estimate {
  double fill = 0;  // share of cells that are not 0
  double keys = 0;  // number of distinct keys, estimated from the fill of each block
  // Whether `keys` is an estimate. A block whose cells are all set may have far more keys than are
  // estimated for it. If such blocks have more than half of `keys`, then `keys` is only a lower
  // bound.
  bool keys_known = true;
  double fpr = 0;               // expected FPR with the present fill
  std::uint64_t saturated = 0;  // counting filters: saturated counters
};

// Returns whether the number of keys exceeds the capacity in the header by more than three standard
// errors of estimate_keys(). Returns false if the capacity is unknown.
bool exceeds_capacity(const Header& header, double estimated_keys);
// Returns whether the filter exceeds its capacity, or is too full to estimate its keys.
bool is_overfull(const Header& header, const Estimate& estimate);

}  // namespace bloom
