// The options of CREATE VIRTUAL TABLE ... USING bloom_groups(name=value, ...).
//
// capacity, fpr   as in bloom_create(): the filter of each member is sized for this many keys at
//                 this false-positive rate
// seed            seed of the hash function
// collate         collation of the keys: binary, nocase or rtrim
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/layout/format.h"
#include "sql/vtab/option_reader.h"

namespace bloom {

// With N members, a lookup of an absent key returns N * fpr members on average. The application
// must search every member that is returned.
inline constexpr double kDefaultGroupFpr = 0.0001;

class GroupOptions {
 public:
  // Reads the module arguments as SQLite passes them. Throws bloom::Error for an option that is
  // unknown, missing or not valid.
  GroupOptions(sqlite3* db, std::span<const char* const> arguments);

  // Returns the header of each member's filter. Throws bloom::Error if it would be too large.
  Header header() const;
  Collation collation() const { return collation_.value_or(Collation::binary); }

 private:
  using Reader = OptionReader<GroupOptions>;
  static const Reader kReaders[];

  std::optional<std::uint64_t> capacity_;
  std::optional<double> fpr_;
  std::uint32_t seed_ = 0;
  std::optional<Collation> collation_;
};

}  // namespace bloom
