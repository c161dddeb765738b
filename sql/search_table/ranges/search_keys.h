// The keys of the filters of a bloom_search table, and the keys that a condition needs.
//
// equal   a value, as bloom::Key reads it, under the collation of its column
// word    a word of a text: a run of letters, digits and underscores of ASCII, and of characters
//         beyond ASCII apart from typographic spaces and punctuation; the case of ASCII letters is
//         ignored
// gram    four characters of a text, as LIKE decodes and compares them: SQLite accepts byte
//         sequences that are not valid UTF-8, so the characters count and not the bytes
//
// A key is a number of 64 bits, from which both hashes of a filter are computed.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/hashing/collation.h"
#include "core/hashing/hash.h"
#include "core/support/memory.h"
#include "sql/search_table/search_options.h"

namespace bloom {

using SearchKey = std::uint64_t;
using SearchKeys = CountedVector<SearchKey>;

// How the keys of one searched column or expression are made.
struct KeyRule {
  SearchedBy by;
  // Index in SearchOptions::items(), which is hashed with each key: equal values of two columns
  // have different keys. Stored filters depend on it.
  std::uint32_t item;
  Collation collation;  // of a column of the option `equal`
};

// Returns the hashes of a key.
Hash hash_of(SearchKey key);

// `item`: see KeyRule.
SearchKey equal_key(std::string_view bytes, Collation collation, std::uint32_t item);
// The key that a range has if it has a text such as '05' (see is_noncanonical_number()).
SearchKey marker_key(std::uint32_t item);

// Returns the next word of the text, and removes the text up to its end; empty if there is none.
std::string_view next_word(std::string_view& text);
SearchKey word_key(std::string_view word, std::uint32_t item);

// Calls f(key) for each gram of the text, which LIKE reads up to the first NUL.
template <typename F>
void for_each_gram(std::string_view text, std::uint32_t item, F&& f);
// Appends the grams that a text must have to match the pattern by LIKE or GLOB.
void append_pattern_grams(std::string_view pattern, bool is_glob, std::uint32_t item,
                          SearchKeys& keys);

// Implementation of for_each_gram().

// The last four characters of a text.
class GramWindow {
 public:
  explicit GramWindow(std::uint32_t item) : item_(item) {}
  void clear() { size_ = 0; }
  // Returns whether there are four characters now.
  bool push(std::uint32_t c) {
    c = c - 'A' < 26 ? c + ('a' - 'A') : c;
    first_ = first_ >> 32U | std::uint64_t{static_cast<std::uint32_t>(second_)} << 32U;
    second_ = second_ >> 32U | std::uint64_t{c} << 32U;
    size_ += size_ < kGramSize ? 1 : 0;
    return size_ == kGramSize;
  }
  SearchKey key() const;

 private:
  static constexpr int kGramSize = 4;
  std::uint64_t first_ = 0;
  std::uint64_t second_ = 0;
  std::uint32_t item_;
  int size_ = 0;
};

// Mixes the bits of a number (the finalizer of MurmurHash3).
inline std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 33U;
  x *= 0xff51afd7ed558ccdU;
  x ^= x >> 33U;
  x *= 0xc4ceb9fe1a85ec53U;
  return x ^ x >> 33U;
}

inline SearchKey GramWindow::key() const {
  const std::uint64_t x =
      (first_ + std::uint64_t{item_} * 0xd6e8feb86659fd93U) * 0x9e3779b97f4a7c15U;
  return mixed(x ^ (second_ << 29U | second_ >> 35U));
}

// Returns the next character as the LIKE of SQLite reads it, and removes it from the text.
// Requires: the text is not empty.
inline std::uint32_t next_character(std::string_view& text) {
  assert(!text.empty());
  const auto byte = [&] { return static_cast<std::uint8_t>(text.front()); };
  std::uint32_t c = byte();
  text.remove_prefix(1);
  if (c < 0xc0) {
    return c;
  }
  c = c < 0xe0    ? c & 0x1fU
      : c < 0xf0  ? c & 0x0fU
      : c < 0xf8  ? c & 7U
      : c < 0xfc  ? c & 3U
      : c == 0xfd ? 1
                  : 0;
  while (!text.empty() && (byte() & 0xc0U) == 0x80) {
    c = (c << 6U) + (byte() & 0x3fU);
    text.remove_prefix(1);
  }
  const bool is_replaced = c < 0x80 || (c & 0xfffff800U) == 0xd800 || (c & 0xfffffffeU) == 0xfffe;
  return is_replaced ? 0xfffd : c;
}

template <typename F>
void for_each_gram(std::string_view text, std::uint32_t item, F&& f) {
  text = text.substr(0, text.find('\0'));
  GramWindow window(item);
  while (!text.empty()) {
    if (window.push(next_character(text))) {
      f(window.key());
    }
  }
}

}  // namespace bloom
