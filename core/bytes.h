// Little-endian loads and stores: the same bytes on every machine. Compilers turn them into one
// move where the machine is little-endian.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace bloom {

template <std::unsigned_integral Word>
Word load_le(const std::uint8_t* from) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    word |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  }
  return static_cast<Word>(word);
}

template <std::unsigned_integral Word>
void store_le(std::uint8_t* to, Word value) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) {
    to[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

}  // namespace bloom
