// The options of CREATE VIRTUAL TABLE ... USING bloom(name=value, ...).
//
// capacity, fpr, kind   as bloom_create() has them; a filter for so many keys at this rate
// block                 cells of a block; 0 for none
// cells, hashes         in place of capacity and fpr: m and k, as bloom_create_sized() has them
// seed                  of the hash
// growth                on: layers are added as keys come; off: the filter stays as it is
// collate               binary, nocase or rtrim
// source, column        the table and the column, or columns in brackets, that it follows
// cache                 bytes of chunks that a connection keeps at hand
// Values are written as in SQL: numbers, 'text', or a bare word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layout/format.h"
#include "core/sizing/growth.h"
#include "sql/sqlite/value.h"
#include "sql/table/source.h"

namespace bloom {

class Options {
 public:
  // Reads arguments as they stand between the brackets. Throws bloom::Error with the name of the
  // option, the rule and the value, also for options that do not go together.
  Options(sqlite3* db, std::span<const char* const> arguments);

  // How the filter grows; none if it does not.
  std::optional<Growth> growth() const;
  // The filter that they ask for, or its first layer. `keys`: what a source has; the filter is then
  // made for half as many more, if that is more than the options say. Throws if there is no such
  // filter.
  Header header(std::uint64_t keys = 0) const;
  std::uint64_t cache_bytes() const { return cache_; }

  // The source, if the filter follows one.
  std::optional<SourceNames> source() const;
  Kind kind() const { return kind_; }
  Collation collation() const { return collation_.value_or(Collation::binary); }
  // That of the source, unless the options name one.
  void take_collation(Collation collation) { collation_ = collation_.value_or(collation); }

 private:
  struct Written;
  struct Reader;
  static const Reader kReaders[];

  void read(sqlite3* db, std::string_view argument, std::vector<const Reader*>& given);
  void require_consistent() const;
  Growth target() const;
  Header sized(std::uint64_t keys) const;  // by capacity and fpr
  Header exact() const;                    // by cells and hashes

  std::optional<std::uint64_t> capacity_;
  std::optional<double> fpr_;
  Kind kind_ = Kind::standard;
  std::optional<std::uint64_t> block_;
  std::optional<std::uint64_t> cells_;
  std::optional<std::uint64_t> hashes_;
  std::uint64_t seed_ = 0;
  std::optional<bool> growth_;
  std::optional<Collation> collation_;
  std::optional<std::string> source_;
  std::vector<std::string> columns_;
  std::uint64_t cache_;
};

}  // namespace bloom
