// Values of SQL: those that SQLite passes in, and copies of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// For error texts: a text between quotes, its beginning if it is long, with ? for what is no
// printable character.
std::string quoted_text(std::string_view text);

class Value {
 public:
  explicit Value(sqlite3_value* value) : value_(value) {}

  int type() const { return sqlite3_value_type(value_); }  // SQLITE_NULL, SQLITE_INTEGER, ...
  bool is_null() const { return type() == SQLITE_NULL; }

  std::int64_t integer() const { return sqlite3_value_int64(value_); }
  double real() const { return sqlite3_value_double(value_); }

  // Text as UTF-8 whatever the encoding of the database; the bytes of a blob. They live until the
  // function returns. Throw std::bad_alloc.
  std::string_view text() const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value_));
    if (bytes == nullptr) {
      throw std::bad_alloc();
    }
    return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value_))};
  }
  std::span<const std::uint8_t> blob() const {
    const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_value_blob(value_));
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value_));
    if (bytes == nullptr && size != 0) {
      throw std::bad_alloc();
    }
    return {bytes, size};
  }

  // In an UPDATE of a virtual table: the column is not among those that are set.
  bool is_unchanged() const { return sqlite3_value_nochange(value_) != 0; }

  // The pointer of a pointer value of this type, or null. Whoever owned it may be gone.
  void* pointer(const char* type) const { return sqlite3_value_pointer(value_, type); }

  // For error texts: NULL, 42, 1.5, 'text', a blob of 12 bytes.
  std::string in_words() const;

 private:
  sqlite3_value* value_;
};

// A value that outlives the call.
struct FreeValue {
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
using OwnedValue = std::unique_ptr<sqlite3_value, FreeValue>;

// A copy that outlives the call. Keeping one after another needs no new memory.
class KeptValue {
 public:
  void keep(const Value& value);
  void keep_text(std::string_view text) { keep_bytes(SQLITE_TEXT, text); }
  // What was kept last, as the result of a call.
  void give(sqlite3_context* context) const;

 private:
  void keep_bytes(int type, std::string_view bytes) {
    if (bytes.size() > bytes_.size()) {
      bytes_.resize(bytes.size());
    }
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
    size_ = bytes.size();
    type_ = type;
  }

  int type_ = SQLITE_NULL;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string bytes_;
  std::size_t size_ = 0;  // of the bytes that are in use
};

// The arguments of a call.
class Values {
 public:
  Values(int count, sqlite3_value** values) : values_(values), count_(count) {}

  int size() const { return count_; }
  Value operator[](int i) const { return Value(values_[i]); }
  Values from(int i) const { return {count_ - i, values_ + i}; }

 private:
  sqlite3_value** values_;
  int count_;
};

}  // namespace bloom::sqlite
