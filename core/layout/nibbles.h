// Words of sixteen 4-bit counters, for merging and halving arrays of counters.
#pragma once

#include <cstdint>

namespace bloom {

using CounterWord = std::uint64_t;

inline constexpr CounterWord kEachByte = 0x0101010101010101;
inline constexpr CounterWord kLowNibbles = 0x0f * kEachByte;
inline constexpr CounterWord kEachNibble = 0x1111111111111111;

// Clamps each byte to 15. Requires: each byte holds the sum of two counters (0..30).
constexpr CounterWord saturate(CounterWord sums) {
  const CounterWord over = (sums >> 4) & kEachByte;
  return (sums | (over * 0x0f)) & kLowNibbles;
}

}  // namespace bloom
