#include "sql/search_table/search_words.h"

#include <algorithm>

#include "sql/search_table/ranges/search_keys.h"

namespace bloom {
namespace {

bool is_same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return x == y || ((x ^ y) == 0x20 && (x | 0x20) >= 'a' && (x | 0x20) <= 'z');
         });
}

void match(sqlite::Context& context, const sqlite::Values& arguments) {
  if (arguments[0].is_null() || arguments[1].is_null()) {
    return;
  }
  std::string_view wanted = arguments[0].text();
  const std::string_view text = arguments[1].text();
  bool found = false;
  for (std::string_view word = next_word(wanted); !word.empty(); word = next_word(wanted)) {
    std::string_view rest = text;
    std::string_view other = next_word(rest);
    while (!other.empty() && !is_same_word(word, other)) {
      other = next_word(rest);
    }
    found = !other.empty();
    if (!found) {
      break;
    }
  }
  context.result_bool(found);
}

}  // namespace

const sqlite::ScalarFunction kWordsMatch{"bloom_search_match", match, 2, sqlite::kInternal};

}  // namespace bloom
