// The options of CREATE VIRTUAL TABLE ... USING bloom_groups(name=value, ...).
//
// capacity, fpr   as in bloom_create(): the filter of each member is sized for this many keys at
//                 this false-positive rate
// source, column  the members are ranges of rows of this table, and the keys are in this column
// rows            rows per range
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
// must search every member that is returned. Members such as files or shards are more expensive to
// search than ranges of rows, so ranges have smaller filters.
inline constexpr double kDefaultGroupFpr = 0.0001;
inline constexpr double kDefaultRangeFpr = 0.0003;

class GroupOptions {
 public:
  // Reads the module arguments as SQLite passes them. Throws bloom::Error for an option that is
  // unknown, missing or not valid.
  GroupOptions(sqlite3* db, std::span<const char* const> arguments);

  // Returns the header of each member's filter. Throws bloom::Error if it would be too large.
  Header header() const;
  Collation collation() const { return collation_.value_or(Collation::binary); }
  // Sets the collation unless the options name one. The default is that of the source's column.
  void set_default_collation(Collation collation) { collation_ = collation_.value_or(collation); }

  // Returns the source and its column; nullopt if the members are not ranges of rows.
  std::optional<SourceNames> source() const;
  std::uint64_t rows() const { return rows_.value_or(kDefaultRows); }
  bool answers_maybe_when_stale() const { return maybe_when_stale_.value_or(false); }

 private:
  static constexpr std::uint64_t kDefaultRows = 4096;

  using Reader = OptionReader<GroupOptions>;
  static const Reader kReaders[];

  void require_consistent() const;

  std::optional<std::uint64_t> capacity_;
  std::optional<double> fpr_;
  std::uint32_t seed_ = 0;
  std::optional<Collation> collation_;
  std::optional<std::string> source_;
  std::vector<std::string> columns_;
  std::optional<std::uint64_t> rows_;
  std::optional<bool> maybe_when_stale_;
};

}  // namespace bloom
