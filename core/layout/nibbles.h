// Words of sixteen 4-bit counters, for those who merge and halve arrays of them.
#pragma once

#include <cstdint>

namespace bloom {

using Word = std::uint64_t;

inline constexpr Word kEachByte = 0x0101010101010101;
inline constexpr Word kLowNibbles = 0x0f * kEachByte;
inline constexpr Word kEachNibble = 0x1111111111111111;

// Byte lanes that hold sums of two counters: sums over 15 become 15.
constexpr Word saturate(Word sums) {
  const Word over = (sums >> 4) & kEachByte;
  return (sums | (over * 0x0f)) & kLowNibbles;
}

}  // namespace bloom
