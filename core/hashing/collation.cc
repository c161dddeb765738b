#include "core/hashing/collation.h"

#include <algorithm>

#include "core/support/ascii.h"

namespace bloom {

std::string_view name_of(Collation collation) {
  switch (collation) {
    case Collation::binary:
      return "binary";
    case Collation::nocase:
      return "nocase";
    case Collation::rtrim:
      return "rtrim";
  }
  return "unknown";
}

std::optional<Collation> collation_named(std::string_view name) {
  for (const Collation collation : kCollations) {
    if (equal_ignoring_case(name_of(collation), name)) {
      return collation;
    }
  }
  return std::nullopt;
}

std::string_view normalized(std::string_view key, Collation collation, CountedString& buffer) {
  if (collation == Collation::rtrim) {
    return key.substr(0, key.find_last_not_of(' ') + 1);
  }
  if (collation == Collation::nocase) {
    // SQLite's NOCASE compares the bytes before the first NUL, and then the lengths.
    const std::size_t end = std::min(key.find('\0'), key.size());
    buffer.assign(key.size(), '\0');
    std::transform(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(end), buffer.begin(),
                   ascii_lower);
    return buffer;
  }
  return key;
}

}  // namespace bloom
