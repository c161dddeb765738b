#include "sql/search_table/ranges/search_keys.h"

#include <algorithm>

#include "core/hashing/key.h"

namespace bloom {
namespace {

// Returns the size of the character at the front if it ends a word; else 0. In UTF-8, these are the
// ASCII characters other than letters, digits and _, and the spaces and punctuation of Latin-1
// (U+00A0 to U+00BF, without its letters), U+2000 to U+206F, and U+3000 to U+303F. Requires: the
// text is not empty.
std::size_t size_of_separator(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned c = byte(0);
  if (c < 0x80) {
    const bool is_word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return is_word ? 0 : 1;
  }
  const auto continues = [&](std::size_t i, unsigned first, unsigned last) {
    return byte(i) >= first && byte(i) <= last;
  };
  if (c == 0xc2) {
    const bool is_letter = byte(1) == 0xaa || byte(1) == 0xb5 || byte(1) == 0xba;
    return continues(1, 0xa0, 0xbf) && !is_letter ? 2 : 0;
  }
  const bool is_three = (c == 0xe2 && byte(1) == 0x80 && continues(2, 0x80, 0xbf)) ||
                        (c == 0xe2 && byte(1) == 0x81 && continues(2, 0x80, 0xaf)) ||
                        (c == 0xe3 && byte(1) == 0x80 && continues(2, 0x80, 0xbf));
  return is_three ? 3 : 0;
}

// A value and a word of one column have different keys.
enum class Sort : std::uint32_t { equal, word, marker };
constexpr std::uint32_t kSorts = 3;

SearchKey key_of(std::string_view bytes, Collation collation, std::uint32_t item, Sort sort) {
  return hash_key(bytes, collation, item * kSorts + static_cast<std::uint32_t>(sort)).h1;
}

// Removes the rest of a set such as [^]a-z] from a GLOB pattern, whose [ is removed already.
// Returns false if the set has no end: the pattern then matches nothing.
bool skip_set(std::string_view& pattern) {
  pattern.remove_prefix(pattern.starts_with('^') ? 1 : 0);
  const std::size_t end = pattern.find(']', pattern.starts_with(']') ? 1 : 0);
  pattern.remove_prefix(end == std::string_view::npos ? pattern.size() : end + 1);
  return end != std::string_view::npos;
}

}  // namespace

Hash hash_of(SearchKey key) {
  key += key == 0 ? 1 : 0;  // as KeySet does
  return {key, mixed(key + 0x9e3779b97f4a7c15U)};
}

SearchKey equal_key(std::string_view bytes, Collation collation, std::uint32_t item) {
  return key_of(bytes, collation, item, Sort::equal);
}

SearchKey marker_key(std::uint32_t item) {
  return key_of("", Collation::binary, item, Sort::marker);
}

SearchKey word_key(std::string_view word, std::uint32_t item) {
  return key_of(word, Collation::nocase, item, Sort::word);
}

std::string_view next_word(std::string_view& text) {
  while (!text.empty() && size_of_separator(text) != 0) {
    text.remove_prefix(size_of_separator(text));
  }
  std::size_t size = 0;
  while (size < text.size() && size_of_separator(text.substr(size)) == 0) {
    ++size;
  }
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// Older versions of SQLite look for the character U+0080 after % byte by byte, and may find it
// within another character. From there on, they read the rest of that character as U+0080 to
// U+00BF. So these characters are in no gram of a pattern.
void append_pattern_grams(std::string_view pattern, bool is_glob, std::uint32_t item,
                          SearchKeys& keys) {
  pattern = pattern.substr(0, pattern.find('\0'));
  GramWindow window(item);
  while (!pattern.empty()) {
    const std::uint32_t c = next_character(pattern);
    const bool is_wild = is_glob ? c == '*' || c == '?' || c == '[' : c == '%' || c == '_';
    if (is_glob && c == '[' && !skip_set(pattern)) {
      return;
    }
    if (is_wild || (c >= 0x80 && c <= 0xbf)) {
      window.clear();
    } else if (window.push(c)) {
      keys.push_back(window.key());
    }
  }
}

}  // namespace bloom
