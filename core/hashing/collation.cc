#include "core/hashing/collation.h"

#include <algorithm>

namespace bloom {
namespace {

char lower(char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

}  // namespace

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
    const std::string_view known = name_of(collation);
    if (std::equal(known.begin(), known.end(), name.begin(), name.end(),
                   [](char a, char b) { return a == lower(b); })) {
      return collation;
    }
  }
  return std::nullopt;
}

std::string_view normalized(std::string_view key, Collation collation, std::string& buffer) {
  if (collation == Collation::rtrim) {
    return key.substr(0, key.find_last_not_of(' ') + 1);
  }
  if (collation == Collation::nocase) {
    // SQLite's NOCASE compares the bytes before the first NUL, and then the lengths.
    const std::size_t end = std::min(key.find('\0'), key.size());
    buffer.assign(key.size(), '\0');
    std::transform(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(end), buffer.begin(),
                   lower);
    return buffer;
  }
  return key;
}

}  // namespace bloom
