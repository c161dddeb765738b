// The key of a row of a source, from the values of the followed columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/hashing/composite_key.h"
#include "core/hashing/hash.h"
#include "core/layout/shape.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/values/key.h"

namespace bloom {

// What a filter stores for a key of its source.
struct SourceKey {
  std::optional<Hash> hash;  // nullopt if the key, or a part of it, is NULL
  // Whether the key, or a part of it, needs noncanonical_marker().
  bool needs_marker = false;  // see KeyHashes
};

// How the keys of a filter are hashed. `parts`: the collations of the columns of a composite key.
struct KeyForm {
  Shape shape;
  PartCollations parts;
};

// Return the key in the columns of a row, from column `first` on, and the key in a value. A
// composite key is a value as bloom_key() makes it.
SourceKey key_of_row(const sqlite::Execution& row, int first, const KeyForm& form);
SourceKey key_of_value(const sqlite::Value& value, bool is_composite, const KeyForm& form);

// The hashes that a filter stores for the keys of a source: those of the keys and, once for each
// KeyHashes, noncanonical_marker() if a key needs it. The marker is added even if the filter may
// contain it: in a counting filter that may be due to other keys, and removing these would remove
// the marker.
class KeyHashes {
 public:
  explicit KeyHashes(const Shape& shape) : shape_(shape) {}

  // Calls add(hash) for the key, unless it is NULL, and for the marker if no key before needed it.
  template <typename Add>
  void for_each_hash(const SourceKey& key, Add&& add) {
    for_each_hash(key, add, [this](Hash) { return has_marker_; });
  }
  // As above, but has(marker) says whether the marker is stored already. Not for counting filters.
  template <typename Add, typename Has>
  void for_each_hash(const SourceKey& key, Add&& add, Has&& has) {
    if (key.hash) {
      add(*key.hash);
    }
    if (key.needs_marker) {
      const Hash marker = noncanonical_marker(shape_);
      if (!has(marker)) {
        add(marker);
      }
      has_marker_ = true;
    }
  }

 private:
  const Shape shape_;
  bool has_marker_ = false;
};

// Return the key for an error message: 42, 'text', or ('t1', 'a@b') for a composite key.
std::string describe_row(const sqlite::Execution& row);
std::string describe_key(const sqlite::Value& value, bool is_composite);

}  // namespace bloom
