// What the bytes of a key are.
//
// Text and blobs are keys as they are. Numbers become decimal text, so that 42, 42.0, '42' and
// x'3432' are one key and any other program can name it:
//   an integer                     its decimal text                   42    -> "42"
//   a real with an integral value  that integer, exactly              1e3   -> "1000"
//   any other real                 the fewest digits that read back   0.1   -> "0.1"
//                                  as the same number, laid out as    1e-07 -> "1e-07"
//                                  by C's %g and Python's repr
//   infinities                     as SQLite writes them              9e999 -> "Inf"
// Negative zero is 0. The locale of the host program has no influence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "core/hashing/hash.h"

namespace bloom {

// The text of a number, held without allocation.
class NumberText {
 public:
  explicit NumberText(std::int64_t value);
  explicit NumberText(double value);  // REQUIRES: not NaN (SQLite has none; it becomes NULL)

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  void write_integer(std::int64_t value);
  void write_integral(double value);
  void write_shortest(double value);

  // The longest is the largest double: 309 digits and a sign.
  std::array<char, 320> text_;
  std::size_t size_ = 0;
};

// Appends one part of a composite key as a netstring, "<length>:<bytes>,". Parts cannot run into
// each other: ('ab','c') is "2:ab,1:c," and ('a','bc') is "1:a,2:bc,".
// https://cr.yp.to/proto/netstrings.txt
void append_part(std::string& key, std::string_view part);

Hash hash_collated(std::string_view key, Collation collation, std::uint32_t seed);

}  // namespace bloom
