#include "sql/search_table/search_match.h"

#include <algorithm>
#include <vector>

#include "sql/search_table/ranges/search_keys.h"

namespace bloom {
namespace {

// The order of words without the case of ASCII letters.
bool is_before(std::string_view a, std::string_view b) {
  const auto folded = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return folded(x) < folded(y); });
}

void match(sqlite::Context& context, const sqlite::Values& arguments) {
  if (arguments[0].is_null() || arguments[1].is_null()) {
    return;
  }
  std::string_view pattern = arguments[0].text();
  std::vector<std::string_view> wanted;
  for (std::string_view word = next_word(pattern); !word.empty(); word = next_word(pattern)) {
    wanted.push_back(word);
  }
  std::sort(wanted.begin(), wanted.end(), is_before);
  wanted.erase(std::unique(wanted.begin(), wanted.end(),
                           [](std::string_view a, std::string_view b) {
                             return !is_before(a, b) && !is_before(b, a);
                           }),
               wanted.end());
  std::vector<bool> found(wanted.size());
  std::size_t missing = wanted.size();
  std::string_view text = arguments[1].text();
  while (missing != 0) {
    const std::string_view word = next_word(text);
    if (word.empty()) {
      break;
    }
    const auto at = std::lower_bound(wanted.begin(), wanted.end(), word, is_before);
    const auto i = static_cast<std::size_t>(at - wanted.begin());
    if (at != wanted.end() && !is_before(word, *at) && !found[i]) {
      found[i] = true;
      --missing;
    }
  }
  context.result_bool(!wanted.empty() && missing == 0);
}

}  // namespace

const sqlite::ScalarFunction kWordsMatch{"bloom_search_match", match, 2, sqlite::kInternal};

}  // namespace bloom
