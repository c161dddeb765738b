// Little-endian loads and stores, so that stored bytes are the same on every machine.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloom {

// Returns the word stored at `from`, which need not be aligned.
template <std::unsigned_integral Word>
Word load_le(const std::uint8_t* from) {
  Word word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, from, sizeof word);
  } else {
    for (std::size_t i = sizeof word; i-- > 0;) {
      word = static_cast<Word>(std::uint64_t{word} << 8 | from[i]);
    }
  }
  return word;
}

// Stores `word` at `to`, which need not be aligned.
template <std::unsigned_integral Word>
void store_le(std::uint8_t* to, Word word) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &word, sizeof word);
  } else {
    for (std::size_t i = 0; i < sizeof word; ++i) {
      to[i] = static_cast<std::uint8_t>(std::uint64_t{word} >> (8 * i));
    }
  }
}

// Load and store a double as its 64 bits. They avoid std::bit_cast, which libc++ has only since
// version 14.
inline double load_le_double(const std::uint8_t* from) {
  const auto bits = load_le<std::uint64_t>(from);
  double value = 0;
  static_assert(sizeof value == sizeof bits);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline void store_le_double(std::uint8_t* to, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  store_le(to, bits);
}

}  // namespace bloom
