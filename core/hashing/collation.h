// Collations decide which keys count as equal. These are the three that are built into SQLite.
//
// A filter with a collation other than binary hashes a normalized form of each key. All keys that
// are equal under the collation have the same form. The collation applies to the bytes of every
// key, also to those of numbers and blobs. SQL compares numbers and blobs without a collation, so a
// filter can treat more keys as equal than SQL does. That can only cause false positives.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/support/memory.h"

namespace bloom {

enum class Collation : std::uint8_t {
  binary = 0,
  nocase = 1,  // ignores the case of ASCII letters
  rtrim = 2,   // ignores trailing spaces
};

inline constexpr Collation kCollations[] = {Collation::binary, Collation::nocase, Collation::rtrim};
inline constexpr std::string_view kCollationRule = "'binary', 'nocase' or 'rtrim'";

// Returns the name of the collation in lower case.
std::string_view name_of(Collation collation);
// Returns the collation of this name, or nullopt. Ignores the case of `name`.
std::optional<Collation> collation_named(std::string_view name);

// Returns the normalized form of `key`: two keys have the same form exactly if they are equal under
// `collation`. The result is a view of `key` or of `buffer`. For nocase the form is written to
// `buffer`.
std::string_view normalized(std::string_view key, Collation collation, CountedString& buffer);

}  // namespace bloom
