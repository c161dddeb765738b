// Bisection over integers.
#pragma once

#include <cstdint>

namespace bloom {

// Returns the smallest x in low..high for which good(x) is true, or `high` if there is none below
// it. Requires: once good(x) is true, it stays true for all larger x.
template <typename Good>
std::uint64_t first_good(std::uint64_t low, std::uint64_t high, Good good) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace bloom
