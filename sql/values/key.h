// The bytes of a key, from an SQL value.
#pragma once

#include <optional>
#include <string_view>

#include "core/hashing/hash.h"
#include "core/hashing/key.h"
#include "core/layout/shape.h"
#include "sql/sqlite/value.h"

namespace bloom {

// Reads a value as a key. The bytes are valid until the SQL function returns. NULL is never a key
// and has no bytes.
class Key {
 public:
  explicit Key(const sqlite::Value& value) : type_(value.type()) {
    if (type_ == SQLITE_TEXT) {
      bytes_ = value.text();
    } else {
      read_other(value);
    }
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  bool is_null() const { return type_ == SQLITE_NULL; }
  bool is_text() const { return type_ == SQLITE_TEXT; }
  std::string_view bytes() const { return number_ ? number_->view() : bytes_; }
  Hash hash(const Shape& shape) const { return hash_key(bytes(), shape.collation, shape.seed); }

 private:
  void read_other(const sqlite::Value& value);

  std::optional<NumberText> number_;  // bytes of a number
  std::string_view bytes_;            // bytes of text and blobs, which are not copied
  int type_;
};

}  // namespace bloom
