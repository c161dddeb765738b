// The conversion of SQL values to keys, which are byte strings.
//
// A text or blob value is its own bytes. A number becomes decimal text. So 42, 42.0, '42' and
// x'3432' are the same key, and a program in any language can produce the bytes:
//   number                     key                                        example
//   integer                    its decimal text                           42    -> "42"
//   real, integral value       the decimal text of that integer, exact    1e3   -> "1000"
//   other real                 the fewest digits that read back as the    0.1   -> "0.1"
//                              same number, in the layout of C's %g       1e-07 -> "1e-07"
//                              and of Python's repr
//   infinity                   the text that SQLite uses                  9e999 -> "Inf"
// Negative zero becomes "0". The result does not depend on the locale of the host program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/hashing/collation.h"
#include "core/hashing/hash.h"

namespace bloom {

// The decimal text of a number, stored without heap allocation.
class NumberText {
 public:
  explicit NumberText(std::int64_t value);
  explicit NumberText(double value);  // Requires: not NaN (SQLite stores NaN as NULL)

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  void write_integer(std::int64_t value);
  void write_integral(double value);
  void write_shortest(double value);

  // The longest text is that of the lowest double: 309 digits and a minus sign.
  std::array<char, 320> text_;
  std::size_t size_ = 0;
};

// Returns whether SQLite reads `text` as a number whose key has other bytes. The key of '05' is
// "05", but the key of the number 5 is "5". Other examples: '5.0', ' 5', '1e3'. Returns false for a
// decimal integer of 64 bits, whose key has the same bytes. Also returns true for a few numbers
// whose key has the same bytes, such as '0.1', because it does not convert `text` to a number.
bool is_noncanonical_number(std::string_view text);
// Returns the integer whose key is `text`; nullopt if there is none.
std::optional<std::int64_t> canonical_integer(std::string_view text);

// Appends one part of a composite key to `key` as a netstring, "<length>:<bytes>,". The lengths
// keep different lists of parts distinct: ('ab','c') is "2:ab,1:c," and ('a','bc') is "1:a,2:bc,".
// https://cr.yp.to/proto/netstrings.txt
void append_part(CountedString& key, std::string_view part);
// Removes the first part from the front of a composite key and returns its bytes. Returns nullopt,
// and leaves `key` as it is, if append_part() cannot have made the front of `key`.
std::optional<std::string_view> take_part(std::string_view& key);
// Returns how many parts a composite key has; 0 if append_part() cannot have made `key`.
std::size_t count_parts(std::string_view key);

// Return the hash of the normalized form of `key`: see normalized() in core/hashing/collation.h.
// hash_key() is the function to call. It is inline and avoids a call for the collation binary,
// whose normalized form is the key itself.
Hash hash_normalized(std::string_view key, Collation collation, std::uint32_t seed);
inline Hash hash_key(std::string_view key, Collation collation, std::uint32_t seed) {
  return collation == Collation::binary ? hash_key(key, seed)
                                        : hash_normalized(key, collation, seed);
}

}  // namespace bloom
