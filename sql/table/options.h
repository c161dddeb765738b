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
// Values are written as in SQL: numbers, 'text', or a bare word. Each throws bloom::Error with the
// name of the option, the rule and the value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/format.h"
#include "core/growth.h"
#include "sql/sqlite/value.h"
#include "sql/table/source.h"

namespace bloom {

class Options {
 public:
  // Reads arguments as they stand between the brackets; checks names, not values.
  Options(sqlite3* db, std::span<const char* const> arguments);

  // How the filter grows; none if it does not.
  std::optional<Growth> growth() const;
  // Whether the filter is to be made for the keys that its source has.
  bool sizes_itself() const;
  // The filter that they ask for, or its first layer. `keys`: what a source has; the filter is then
  // made for half as many more, if that is more than the options say.
  Header header(std::uint64_t keys = 0) const;
  Collation collation() const { return collation_; }
  // That of the source, unless the options name one.
  void take_collation(Collation collation);
  std::optional<SourceNames> source() const;
  std::uint64_t cache_bytes() const;

 private:
  bool has(const char* name) const { return values_.contains(name); }
  sqlite::Value value(const char* name) const;
  // Throws if there are both.
  void refuse_both(const char* name, const char* other) const;
  bool grows() const;
  double fpr() const;
  Kind kind() const;
  std::optional<std::uint64_t> block() const;
  Growth target() const;
  Header sized(std::uint64_t keys) const;  // by capacity and fpr
  Header exact() const;                    // by cells and hashes

  std::map<std::string, sqlite::OwnedValue, std::less<>> values_;
  Collation collation_ = Collation::binary;
};

}  // namespace bloom
