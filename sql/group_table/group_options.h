// The options of CREATE VIRTUAL TABLE ... USING bloom_groups(name=value, ...).
//
// capacity, fpr   as in bloom_create(): the filter of each member is sized for this many keys at
//                 this false-positive rate
// source          the table to follow
// member, column  its columns: that of the members, and that of the keys, or a list: column=(a, b)
// on_stale        error or maybe: the answer of a lookup if changes of the source may have been
//                 missed
// seed            seed of the hash function
// collate         collation of the keys: binary, nocase or rtrim
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layout/format.h"
#include "sql/source/source.h"
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
  // `keys`: the number of keys of the largest member of the source. Without the option `capacity`,
  // the capacity is 1.5 times `keys`, at least 64.
  Header header(std::uint64_t keys = 0) const;
  bool has_capacity() const { return capacity_.has_value(); }
  Collation collation() const { return collation_.value_or(default_collation_); }
  // Sets the collation unless the options name one. The default is that of the source's column.
  void set_default_collation(Collation collation) { default_collation_ = collation; }

  // Returns the source and its columns, that of the members first; nullopt if there is no source.
  std::optional<SourceNames> source() const;
  bool answers_maybe_if_stale() const { return answers_maybe_if_stale_.value_or(false); }

 private:
  using Reader = OptionReader<GroupOptions>;
  static const Reader kReaders[];

  void require_consistent() const;

  std::optional<std::uint64_t> capacity_;
  std::optional<double> fpr_;
  std::uint32_t seed_ = 0;
  std::optional<Collation> collation_;
  Collation default_collation_ = Collation::binary;
  std::optional<std::string> source_;
  std::optional<std::string> member_;
  std::vector<std::string> columns_;
  std::optional<bool> answers_maybe_if_stale_;
};

}  // namespace bloom
