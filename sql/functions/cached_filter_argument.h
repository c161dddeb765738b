// The filter argument of a function that is called once per row, usually with the same filter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/filter/filter.h"
#include "core/support/bytes.h"
#include "sql/sqlite/value.h"
#include "sql/values/handles.h"

namespace bloom {

// Reads argument 0 as a filter and remembers the last one: the same handle is not looked up again,
// and a blob with the same header is not parsed again.
class CachedFilterArgument {
 public:
  // Returns the filter. The reference is valid until the SQL call ends. Throws as
  // filter_argument().
  const FilterView& read(const sqlite::Values& arguments) {
    const sqlite::Value value = arguments[0];
    if (handle_.is_known_open(value)) {
      return handle_.filter->view();
    }
    if (value.type() != SQLITE_BLOB) {
      return read_handle(arguments);
    }
    const ByteView stored = value.blob();
    if (!has_cached_header(stored)) {
      read_blob(arguments);
    }
    filter_->rebind(stored.data() + kHeaderBytes);
    return *filter_;
  }

 private:
  // Returns whether the bytes are certainly a valid filter with the header that was parsed last.
  bool has_cached_header(ByteView stored) const {
    if (!filter_ || stored.size() != size_) {
      return false;
    }
    std::uint64_t differ = stored.back() & padding_mask_;
    for (std::size_t i = 0; i < kHeaderBytes; i += sizeof differ) {
      differ |= load_le<std::uint64_t>(&stored[i]) ^ load_le<std::uint64_t>(&header_[i]);
    }
    return differ == 0;
  }
  const FilterView& read_handle(const sqlite::Values& arguments);
  void read_blob(const sqlite::Values& arguments);

  Handle handle_;  // if the last filter was a handle

  // The last blob: its header, its size, and the filter that was parsed.
  std::array<std::uint8_t, kHeaderBytes> header_{};
  std::size_t size_ = 0;
  std::uint8_t padding_mask_ = 0;  // mask of the bits in the last byte that must be 0
  std::optional<FilterView> filter_;
};

}  // namespace bloom
