// Reads and checks the arguments of SQL functions. Each function throws bloom::Error with the name
// of the argument, the rule and the value.
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

// Returns "argument 3" for i = 2: SQL counts from 1.
std::string argument_name(int i);

// Throws if the call has fewer than `count` arguments. For functions of any number of arguments
// only; SQLite checks the others. `usage` shows a correct call.
void require_at_least(int count, const Values& arguments, const char* usage);

// Returns the filter of argument i, which must be a blob or a handle made by bloom_open(). Throws
// for any other value, also for NULL: in a WHERE clause a NULL result would silently drop rows.
FilterView filter_argument(const Values& arguments, int i);
FilterView filter_argument(const Value& value, const char* name);

// Returns the delta of argument i, which must be a blob. refuse_delta() throws the error for any
// other problem with that delta.
DeltaView delta_argument(const Values& arguments, int i);
[[noreturn]] void refuse_delta(int i, const Problem& problem);

// Returns the filter in the current row of an aggregate; nullopt for NULL.
//
// Throws for a handle. Under DISTINCT, SQLite treats different handles as equal. And where SQLite
// loses the pointer type it passes NULL, which the aggregate would silently skip.
std::optional<FilterView> filter_row(const Values& arguments);

// Reads argument 1 as a filter, for functions that are called once per row. Remembers the last
// filter: the same handle is not looked up again, and a blob with the same header is not parsed
// again.
class CachedFilterArgument {
 public:
  // Returns the filter. The reference is valid until the SQL call ends. Throws as
  // filter_argument().
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
    last_->rebind(stored.data() + kHeaderBytes);
    return *last_;
  }

 private:
  // Returns whether the bytes are certainly a valid filter with the header that was parsed last.
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

  Handle handle_;  // if the last filter was a handle
  std::array<std::uint8_t, kHeaderBytes> header_{};
  std::size_t size_ = 0;
  std::uint8_t stray_bits_ = 0;  // mask of the bits in the last byte that must be 0
  std::optional<FilterView> last_;
};

// The bytes of a key. NULL is never a key and has none. The bytes are valid until the SQL function
// returns.
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
  Hash hash(const Shape& shape) const { return hash_key(bytes(), shape.collation, shape.seed); }

 private:
  void read_other(const Value& value);

  std::optional<NumberText> number_;
  std::string_view bytes_;
  int type_;
};

// Returns an integer in low..high. Accepts a real with an integral value, such as 1e6.
std::uint64_t count_argument(const Value& value, std::string_view name, std::uint64_t low,
                             std::uint64_t high);
// Returns a number between 0 and 1, both excluded.
double fpr_argument(const Value& value, std::string_view name);
Kind kind_argument(const Value& value);

// Throws if `bytes` exceeds the maximum size of a value on this connection (SQLITE_LIMIT_LENGTH).
// The message names the value as `what`, and ends with `remedy`, which says what to do instead.
void require_fits(const Context& context, std::string_view what, std::uint64_t bytes,
                  std::string_view remedy = {});

// Returns an empty filter. Throws if the filter would exceed the maximum size of a blob.
Filter new_filter(const Context& context, const Header& header);
// Throws if a filter of this geometry would exceed the maximum size of a blob.
void require_filter_fits(const Context& context, const Shape& shape);
// Sets a filter as the result of a call. Throws if the filter exceeds the maximum size of a blob.
void return_filter(Context& context, Filter filter);

}  // namespace bloom
