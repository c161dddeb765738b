// Arguments of SQL functions, read and checked. Each throws bloom::Error with the name of the
// argument, the rule and the value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/filter/filter.h"
#include "core/hashing/key.h"
#include "core/operations/delta.h"
#include "core/support/bytes.h"
#include "sql/handles.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/value.h"

namespace bloom {

using sqlite::Context;
using sqlite::Value;
using sqlite::Values;

// "argument 3", for the third.
std::string argument_name(int i);

// Throws if a function of any number of arguments has fewer than it needs; SQLite counts those of
// the others.
void require_at_least(int count, const Values& arguments, const char* usage);

// The filter of argument i: a blob, or a handle that bloom_open() made. Nothing else is a filter,
// NULL included: in a WHERE clause a NULL result would drop rows without a word.
FilterView filter_argument(const Values& arguments, int i);
FilterView filter_argument(const Value& value, const char* name);

// The delta of argument i, a blob; and what else can be found wrong with it.
DeltaView delta_argument(const Values& arguments, int i);
[[noreturn]] void refuse_delta(int i, const Problem& problem);

// A filter for an aggregate: none for NULL. A handle is refused: SQLite takes several for one under
// DISTINCT, and passes on NULL for one that got lost on its way, which would be skipped.
std::optional<FilterView> filter_row(const Values& arguments);

// The filter of argument 1, by whoever is called again and again: the same handle is not looked up,
// and a blob with the same header is not read, anew.
class RememberedFilter {
 public:
  // Good until the call ends.
  const FilterView& read(const Values& arguments) {
    const Value value = arguments[0];
    if (handle_.is_open(value)) {
      return handle_.filter->view();
    }
    if (value.type() != SQLITE_BLOB) {
      return read_handle(value);
    }
    const ByteView stored = value.blob();
    if (!is_same(stored)) {
      read_blob(stored);
    }
    last_->move_to(stored.data() + kHeaderBytes);
    return *last_;
  }

 private:
  // Whether the bytes are a filter for the same reasons as those that were read last.
  bool is_same(ByteView stored) const {
    if (!last_ || stored.size() != size_) {
      return false;
    }
    std::uint64_t differ = stored.back() & stray_bits_;
    for (std::size_t i = 0; i < kHeaderBytes; i += sizeof differ) {
      differ |= load_le<std::uint64_t>(&stored[i]) ^ load_le<std::uint64_t>(&header_[i]);
    }
    return differ == 0;
  }
  const FilterView& read_handle(const Value& value);
  void read_blob(ByteView stored);

  Handle handle_;  // if the last one was one
  std::array<std::uint8_t, kHeaderBytes> header_{};
  std::size_t size_ = 0;
  std::uint8_t stray_bits_ = 0;  // those of the last byte that may not be set
  std::optional<FilterView> last_;
};

// The bytes of a key; none for NULL, which is never a key. They live until the function returns.
class Key {
 public:
  explicit Key(const Value& value) : type_(value.type()) {
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
  Hash hash(const Shape& shape) const { return hash_of(bytes(), shape); }

 private:
  void read_other(const Value& value);

  std::optional<NumberText> number_;
  std::string_view bytes_;
  int type_;
};

// An integer, or a real with the value of one (1e6), in low..high.
std::uint64_t count_argument(const Value& value, std::string_view name, std::uint64_t low,
                             std::uint64_t high);
// A number strictly between 0 and 1.
double rate_argument(const Value& value, std::string_view name);
Kind kind_argument(const Value& value);

// Throws if `what`, of so many bytes, is longer than a value of this connection may be; `remedy`
// says what to do then.
void require_fits(const Context& context, std::string_view what, std::uint64_t bytes,
                  std::string_view remedy = {});

// An empty filter that fits the longest blob of the connection; else throws.
Filter new_filter(const Context& context, const Header& header);
// Throws if a filter of this shape is longer than the longest blob.
void require_filter_fits(const Context& context, const Shape& shape);
// Makes a filter the result of a call, or throws if it is.
void return_filter(Context& context, Filter filter);

}  // namespace bloom
