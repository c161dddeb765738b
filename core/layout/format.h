// The stored bytes: a header of 64 bytes, then the cells. docs/format.md specifies them, golden
// files pin them, and no other file knows an offset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "core/layout/shape.h"

namespace bloom {

using ByteView = std::span<const std::uint8_t>;

inline constexpr std::size_t kHeaderBytes = 64;

struct Header {
  Shape shape;
  std::uint64_t capacity = 0;  // keys that the filter was sized for; 0 is unknown
  double fpr = 0;              // the rate that it was sized for; 0 is unknown

  bool operator==(const Header&) const = default;
};

std::uint64_t stored_bytes(const Shape& shape);

std::array<std::uint8_t, kHeaderBytes> write_header(const Header& header);

// What is wrong with bytes that should be a filter, or a delta.
struct Problem {
  // Not what it should be, or of a version that this build does not know.
  static Problem foreign(std::string text) { return {true, std::move(text)}; }
  static Problem damaged(std::string text) { return {false, std::move(text)}; }

  bool is_foreign;
  std::string text;  // "bad magic"
};

// Reads and checks the header of a whole stored filter, in time that does not depend on its size.
std::variant<Header, Problem> read_filter_header(ByteView stored);

// Reads and checks a header alone, of bytes that start with it.
std::variant<Header, Problem> read_header(ByteView stored);

// The bits after the last cell, in the byte that holds it. None of them may be set.
std::uint8_t stray_bits(const Shape& shape);

}  // namespace bloom
