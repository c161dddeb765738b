// SQL values (sqlite3_value): those that SQLite passes to a callback, and copies of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/memory.h"
#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// Returns a string in quotes, for error messages. Long strings are cut, and bytes that are not
// printable characters become ?.
std::string quoted_text(std::string_view text);

struct FreeValue {
  void operator()(sqlite3_value* value) const { sqlite3_value_free(value); }
};
// A copy of a value, made by SQLite. It outlives the call.
using OwnedValue = std::unique_ptr<sqlite3_value, FreeValue>;

// A value that SQLite passes to a callback, which is valid until the callback returns; or a column
// of a row, which is valid until the next step of its statement.
class Value {
 public:
  explicit Value(sqlite3_value* value) : value_(value) {}

  int type() const { return sqlite3_value_type(value_); }  // SQLITE_NULL, SQLITE_INTEGER, ...
  bool is_null() const { return type() == SQLITE_NULL; }

  std::int64_t integer() const { return sqlite3_value_int64(value_); }
  double real() const { return sqlite3_value_double(value_); }

  // text() returns UTF-8, whatever the encoding of the database. blob() returns the bytes of a
  // blob. The bytes are valid as long as the value. Both throw std::bad_alloc.
  std::string_view text() const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value_));
    if (bytes == nullptr) {
      throw std::bad_alloc();
    }
    return {bytes, static_cast<std::size_t>(sqlite3_value_bytes(value_))};
  }
  // Returns the bytes of a text as the database stores them: UTF-8 only in a database in UTF-8.
  // Faster than text(): SQLite neither converts the bytes nor appends a NUL character. But it then
  // marks the value as a blob, too. SQLite has Bloom filters of its own for joins, and before 3.54
  // these treat a marked value as different from the same value without the mark. blob() of a text
  // and binding a text mark it as well. So copy a value that will be returned to SQLite before you
  // call any of the three.
  std::string_view stored_text() const {
    const auto bytes = blob();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::uint8_t> blob() const {
    const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_value_blob(value_));
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value_));
    if (bytes == nullptr && size != 0) {
      throw std::bad_alloc();
    }
    return {bytes, size};
  }

  // Returns true for a column that an UPDATE of a virtual table leaves as it is.
  bool is_unchanged() const { return sqlite3_value_nochange(value_) != 0; }

  // Returns the pointer of a pointer value of this type, else null. The object that it points to
  // may be gone already.
  void* pointer(const char* type) const { return sqlite3_value_pointer(value_, type); }

  // Set the value as a parameter of a statement, or as the result of a call. bind_to() returns an
  // SQLite result code.
  int bind_to(sqlite3_stmt* statement, int parameter) const {
    switch (type()) {
      case SQLITE_FLOAT:  // SQLite 3.31 may bind another number: a REAL can be kept as an integer
        return sqlite3_bind_double(statement, parameter, sqlite3_value_double(value_));
      case SQLITE_TEXT:
        return begins_with_byte_order_mark() ? bind_marked(statement, parameter)
                                             : sqlite3_bind_value(statement, parameter, value_);
      default:
        return sqlite3_bind_value(statement, parameter, value_);
    }
  }
  void set_result(sqlite3_context* context) const { sqlite3_result_value(context, value_); }

  // Calls f(value) with the values of column IN (...). Requires: this is the argument of such a
  // condition, whose values SQLite passes all at once. Throws SqliteError, and what `f` throws.
  void for_each_in_list(const std::function<void(const Value&)>& f) const;

  // Throws std::bad_alloc.
  OwnedValue copy() const {
    OwnedValue copy(sqlite3_value_dup(value_));
    if (!copy) {
      throw std::bad_alloc();
    }
    return copy;
  }

  // Returns the value for an error message: NULL, 42, 1.5, 'text', a blob of 12 bytes.
  std::string describe() const;

 private:
  // A mark of UTF-16, in either byte order. In UTF-8 these bytes mean nothing: see bind_marked().
  bool begins_with_byte_order_mark() const {
    const auto bytes = blob();
    return bytes.size() >= 2 && bytes[0] + bytes[1] == 0xff + 0xfe &&
           (bytes[0] == 0xff || bytes[0] == 0xfe);
  }
  // SQLite removes a byte order mark in front of a text in UTF-16, so this adds one.
  int bind_marked(sqlite3_stmt* statement, int parameter) const;

  sqlite3_value* value_;
};

// A copy of a value that outlives the call. Unlike an OwnedValue, it reuses its memory for the next
// value, and allocates none for a short one: a cursor copies one value per row, and EXISTS opens a
// cursor for each.
class ReusableValue {
 public:
  // `may_convert`: whether a text may be converted to UTF-8. That loses characters that are not
  // valid in UTF-16. If not, uses new memory.
  void assign(const Value& value, bool may_convert = true);
  void assign_text(std::string_view text) { assign_bytes(SQLITE_TEXT, text); }
  void assign_integer(std::int64_t integer) {
    integer_ = integer;
    type_ = SQLITE_INTEGER;
    copy_.reset();
  }
  void assign_real(double real) {
    real_ = real;
    type_ = SQLITE_FLOAT;
    copy_.reset();
  }
  // Requires: assign_text() has set the value.
  std::string_view text() const { return bytes(); }
  int type() const { return type_; }
  // Sets the value as the result of an SQL function or as the column of a virtual table.
  void set_result(sqlite3_context* context) const;

 private:
  void assign_bytes(int type, std::string_view bytes) {
    if (bytes.size() > std::max(short_.size(), long_.size())) {
      long_.resize(bytes.size());
    }
    size_ = bytes.size();
    std::copy(bytes.begin(), bytes.end(), size_ <= short_.size() ? short_.data() : long_.data());
    type_ = type;
    copy_.reset();
  }

  std::string_view bytes() const {
    return {size_ <= short_.size() ? short_.data() : long_.data(), size_};
  }

  OwnedValue copy_;  // null, unless assign() got may_convert = false
  int type_ = SQLITE_NULL;
  std::int64_t integer_ = 0;
  double real_ = 0;
  // The bytes of a text or blob: in one of these.
  std::array<char, 64> short_;
  CountedString long_;
  std::size_t size_ = 0;
};

// The values that SQLite passes to a callback, such as the arguments of an SQL function.
class Values {
 public:
  Values(int count, sqlite3_value** values) : values_(values), count_(count) {}

  int size() const { return count_; }
  Value operator[](int i) const { return Value(values_[i]); }
  // Returns the values from number i on.
  Values from(int i) const { return {count_ - i, values_ + i}; }

 private:
  sqlite3_value** values_;
  int count_;
};

}  // namespace bloom::sqlite
