// The function that MATCH calls on a column of a bloom_search table.
#pragma once

#include "sql/sqlite/function.h"

namespace bloom {

// bloom_search_match(words, text): whether the text has all the words of `words`, in any order.
// False if there are none.
extern const sqlite::ScalarFunction kWordsMatch;

}  // namespace bloom
