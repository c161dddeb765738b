// The affinity of a column: how SQLite converts the values that are compared with the column
// (https://sqlite.org/datatype3.html, section 3).
#pragma once

#include <string_view>

namespace bloom::sqlite {

// `numeric` includes INTEGER.
enum class Affinity { blob, text, numeric, real };

inline bool is_of_numbers(Affinity affinity) {
  return affinity == Affinity::numeric || affinity == Affinity::real;
}

// Returns the affinity of a column with this declared type, which may be empty. The type ANY
// converts nothing in a STRICT table, which the type does not show.
Affinity affinity_of(std::string_view type);

}  // namespace bloom::sqlite
