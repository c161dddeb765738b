// Which keys count as equal: the collations that every SQLite has.
//
// A filter with another collation than binary hashes a form of the key that all its equals share.
// It is applied to the bytes of every key, whatever their type: that can make more keys equal than
// SQL's comparisons do, which costs a false positive at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloom {

enum class Collation : std::uint8_t {
  binary = 0,
  nocase = 1,  // ASCII letters of either case
  rtrim = 2,   // spaces at the end
};

inline constexpr Collation kCollations[] = {Collation::binary, Collation::nocase, Collation::rtrim};
inline constexpr std::string_view kCollationRule = "'binary', 'nocase' or 'rtrim'";

std::string_view name_of(Collation collation);
// The name may be in either case.
std::optional<Collation> collation_named(std::string_view name);

// The form of a key that stands for all that are equal to it. Uses `buffer` where it differs from
// the key otherwise than by its end.
std::string_view collated(std::string_view key, Collation collation, std::string& buffer);

}  // namespace bloom
