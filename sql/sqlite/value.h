// A value that SQLite passes in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {

class Value {
 public:
  explicit Value(sqlite3_value* value) : value_(value) {}

  int type() const { return sqlite3_value_type(value_); }  // SQLITE_NULL, SQLITE_INTEGER, ...
  bool is_null() const { return type() == SQLITE_NULL; }

  std::int64_t integer() const { return sqlite3_value_int64(value_); }
  double real() const { return sqlite3_value_double(value_); }

  // Text as UTF-8 whatever the encoding of the database; the bytes of a blob. They live until the
  // function returns. Throw std::bad_alloc.
  std::string_view text() const;
  std::span<const std::uint8_t> blob() const;

  // The pointer of a pointer value of this type, or null. Whoever owned it may be gone.
  void* pointer(const char* type) const { return sqlite3_value_pointer(value_, type); }

  // For error texts: NULL, 42, 1.5, 'text', a blob of 12 bytes.
  std::string in_words() const;

 private:
  sqlite3_value* value_;
};

// The arguments of a call.
class Values {
 public:
  Values(int count, sqlite3_value** values) : values_(values), count_(count) {}

  int size() const { return count_; }
  Value operator[](int i) const { return Value(values_[i]); }

 private:
  sqlite3_value** values_;
  int count_;
};

}  // namespace bloom::sqlite
