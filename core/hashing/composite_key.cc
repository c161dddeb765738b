#include "core/hashing/composite_key.h"

#include <algorithm>

#include "core/hashing/key.h"

namespace bloom {
namespace {

Collation collation_of(const PartCollations& collations, std::size_t part) {
  return part < collations.size() ? collations[part] : Collation::binary;
}

bool all_binary(const PartCollations& collations) {
  return std::all_of(collations.begin(), collations.end(),
                     [](Collation collation) { return collation == Collation::binary; });
}

}  // namespace

std::string names_of(const PartCollations& collations) {
  std::string names;
  for (const Collation collation : collations) {
    names.append(names.empty() ? "" : " ").append(name_of(collation));
  }
  return names;
}

std::optional<PartCollations> part_collations_named(std::string_view names) {
  PartCollations collations;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    const auto collation = collation_named(names.substr(0, end));
    if (!collation) {
      return std::nullopt;
    }
    collations.push_back(*collation);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return collations;
}

bool same_collations(const PartCollations& a, const PartCollations& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (collation_of(a, i) != collation_of(b, i)) {
      return false;
    }
  }
  return true;
}

Hash hash_composite(std::string_view key, const PartCollations& collations, std::uint32_t seed) {
  if (all_binary(collations)) {
    return hash_key(key, seed);
  }
  CountedString folded;
  CountedString buffer;
  std::string_view rest = key;
  for (std::size_t i = 0; !rest.empty(); ++i) {
    const auto part = take_part(rest);
    if (!part) {
      return hash_key(key, seed);
    }
    append_part(folded, normalized(*part, collation_of(collations, i), buffer));
  }
  return hash_key(folded, seed);
}

}  // namespace bloom
