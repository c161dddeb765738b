// The bytes of a key, from an SQL value.
#pragma once

#include <optional>
#include <string_view>

#include "core/hashing/hash.h"
#include "core/hashing/key.h"
#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "sql/sqlite/value.h"

namespace bloom {

// Reads a value as a key. The bytes are valid while this object and the value are. NULL is never a
// key and has no bytes.
class Key {
 public:
  // `as_stored`: takes the bytes of a text in the encoding of the database. That is faster.
  // Hash them only if the encoding is UTF-8. In UTF-16 only compare them: a conversion would change
  // the value itself, and lose characters that are not valid.
  explicit Key(const sqlite::Value& value, bool as_stored = false) : type_(value.type()) {
    if (type_ == SQLITE_TEXT) {
      bytes_ = as_stored ? value.stored_text() : value.text();
    } else {
      read_other(value);
    }
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  bool is_null() const { return type_ == SQLITE_NULL; }
  bool is_text() const { return type_ == SQLITE_TEXT; }
  bool is_number() const { return number_.has_value(); }
  bool is_real() const { return type_ == SQLITE_FLOAT; }
  // Returns whether the value is a text for which bloom::is_noncanonical_number() is true.
  bool is_noncanonical_number() const { return is_text() && bloom::is_noncanonical_number(bytes_); }
  // Returns whether the value is a blob that is a valid filter.
  bool is_filter() const { return type_ == SQLITE_BLOB && may_be_filter(blob()) && opens(); }
  std::string_view bytes() const { return number_ ? number_->view() : bytes_; }
  Hash hash(const Shape& shape) const { return hash_key(bytes(), shape.collation, shape.seed); }

 private:
  void read_other(const sqlite::Value& value);
  ByteView blob() const {
    return {reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()};
  }
  bool opens() const;

  std::optional<NumberText> number_;  // bytes of a number
  std::string_view bytes_;            // bytes of text and blobs, which are not copied
  int type_;
};

// The hash of a marker: a key that stands for all texts such as '05'. SQL can call such a text
// equal to a number, although their keys differ. A table with a source adds the marker with each
// such text. If neither a number nor the marker is in the filter, no text of the source is equal to
// the number.
inline Hash noncanonical_marker(const Shape& shape) {
  return hash_key("text in other forms of numbers", shape.collation, shape.seed);
}

}  // namespace bloom
