// The affinity of a column: how SQLite converts the values that are compared with the column
// (https://sqlite.org/datatype3.html, section 3).
#pragma once

namespace bloom {

// `numeric` includes INTEGER.
enum class Affinity { blob, text, numeric, real };

inline bool is_numeric(Affinity affinity) {
  return affinity == Affinity::numeric || affinity == Affinity::real;
}

// Returns the affinity of a column with this declared type; null: it has none. The empty type, as
// in CREATE TABLE t(c ""), is numeric. A column of type ANY has the affinity numeric, but no
// affinity in a STRICT table. The type alone does not show this, so the caller must check for
// STRICT.
Affinity affinity_of(const char* declared);

}  // namespace bloom
