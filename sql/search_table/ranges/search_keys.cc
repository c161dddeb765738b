#include "sql/search_table/ranges/search_keys.h"

#include <algorithm>

#include "core/hashing/key.h"

namespace bloom {
namespace {

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// A value and a word of one column have different keys.
enum class Sort : std::uint32_t { equal, word, marker };
constexpr std::uint32_t kSorts = 3;

SearchKey key_of(std::string_view bytes, Collation collation, std::uint32_t tag, Sort sort) {
  return hash_key(bytes, collation, tag * kSorts + static_cast<std::uint32_t>(sort)).h1;
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

SearchKey equal_key(std::string_view bytes, Collation collation, std::uint32_t tag) {
  return key_of(bytes, collation, tag, Sort::equal);
}

SearchKey marker_key(std::uint32_t tag) { return key_of("", Collation::binary, tag, Sort::marker); }

SearchKey word_key(std::string_view word, std::uint32_t tag) {
  return key_of(word, Collation::nocase, tag, Sort::word);
}

std::string_view next_word(std::string_view& text) {
  const auto* const begin = std::find_if(text.begin(), text.end(), is_word_byte);
  const auto* const end = std::find_if_not(begin, text.end(), is_word_byte);
  const std::string_view word = text.substr(static_cast<std::size_t>(begin - text.begin()),
                                            static_cast<std::size_t>(end - begin));
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return word;
}

// Older versions of SQLite look for the character U+0080 after % byte by byte, and may find it
// within another character. From there on, they read the rest of that character as U+0080 to
// U+00BF. So these characters are in no gram of a pattern.
void append_pattern_grams(std::string_view pattern, bool is_glob, std::uint32_t tag,
                          SearchKeys& keys) {
  pattern = pattern.substr(0, pattern.find('\0'));
  GramWindow window(tag);
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
