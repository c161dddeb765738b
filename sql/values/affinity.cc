#include "sql/values/affinity.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "sql/sqlite/api.h"

namespace bloom {
namespace {

// Returns whether the type contains one of the parts, in any case.
bool has_one_of(std::string_view type, std::initializer_list<std::string_view> parts) {
  const auto same = [](char a, char b) { return sqlite3_strnicmp(&a, &b, 1) == 0; };
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return std::search(type.begin(), type.end(), part.begin(), part.end(), same) != type.end();
  });
}

}  // namespace

Affinity affinity_of(const char* declared) {
  if (declared == nullptr) {
    return Affinity::blob;
  }
  const std::string_view type(declared);
  if (has_one_of(type, {"INT"})) {
    return Affinity::numeric;
  }
  if (has_one_of(type, {"CHAR", "CLOB", "TEXT"})) {
    return Affinity::text;
  }
  if (has_one_of(type, {"BLOB"})) {
    return Affinity::blob;
  }
  return has_one_of(type, {"REAL", "FLOA", "DOUB"}) ? Affinity::real : Affinity::numeric;
}

}  // namespace bloom
