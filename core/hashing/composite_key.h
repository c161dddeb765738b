// The hashes of composite keys (append_part() in core/hashing/key.h) whose parts have collations of
// their own. Each part is normalized by its collation before it is hashed. The hash of a key whose
// parts are all BINARY is that of the key itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/collation.h"
#include "core/hashing/hash.h"

namespace bloom {

// The collations of the parts, in order. Parts that are not in the list are BINARY.
using PartCollations = std::vector<Collation>;

// Return the names of the collations, separated by spaces, and the collations of such a text;
// nullopt if it is not valid.
std::string names_of(const PartCollations& collations);
std::optional<PartCollations> part_collations_named(std::string_view names);
// Compares part by part: {} and {binary} are the same.
bool same_collations(const PartCollations& a, const PartCollations& b);

// Returns the hash of a composite key that append_part() has made of values that are not normalized
// yet. Any other `key` is hashed as it is.
Hash hash_composite(std::string_view key, const PartCollations& collations, std::uint32_t seed);

}  // namespace bloom
