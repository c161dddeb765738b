// Comparison that ignores the case of ASCII letters, in every locale. SQLite compares names by the
// same rule.
#pragma once

#include <algorithm>
#include <string_view>

namespace bloom {

inline char ascii_lower(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}

}  // namespace bloom
