// The options of CREATE VIRTUAL TABLE ... USING bloom(name=value, ...).
//
// capacity, fpr, kind   as bloom_create() has them; a filter for so many keys at this rate
// block                 cells of a block; 0 for none
// cells, hashes         in place of capacity and fpr: m and k, as bloom_create_sized() has them
// seed                  of the hash
// cache                 bytes of chunks that a connection keeps at hand
// Values are written as in SQL: numbers, 'text', or a bare word. Each throws bloom::Error with the
// name of the option, the rule and the value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "core/format.h"
#include "sql/sqlite/value.h"

namespace bloom {

class Options {
 public:
  // Reads arguments as they stand between the brackets; checks names, not values.
  Options(sqlite3* db, std::span<const char* const> arguments);

  // The filter that they ask for.
  Header header() const;
  std::uint64_t cache_bytes() const;

 private:
  bool has(const char* name) const { return values_.contains(name); }
  sqlite::Value value(const char* name) const;
  // Throws if there are both.
  void refuse_both(const char* name, const char* other) const;
  Header sized() const;  // by capacity and fpr
  Header exact() const;  // by cells and hashes

  std::map<std::string, sqlite::OwnedValue, std::less<>> values_;
};

}  // namespace bloom
