// The filter argument of a function that is called once per row, usually with the same filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/filter/filter.h"
#include "core/layout/format.h"
#include "sql/sqlite/value.h"
#include "sql/values/handles.h"

namespace bloom {

// Reads argument 0 as a filter and remembers the last one. So the same handle is not looked up
// again, and a blob with the same header is not parsed again. Takes constant time: the cells of a
// blob are not verified.
class CachedFilterArgument {
 public:
  // Returns the filter. The reference is valid until the SQL call ends. Throws as
  // unverified_filter_argument().
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
    return filter_ && stored.size() == size_ && (stored.back() & padding_mask_) == 0 &&
           has_same_header(stored, header_);
  }
  const FilterView& read_handle(const sqlite::Values& arguments);
  void read_blob(const sqlite::Values& arguments);

  Handle handle_;  // if the last filter was a handle

  // The last blob: its header, its size, and the filter that was parsed.
  HeaderBytes header_{};
  std::size_t size_ = 0;
  std::uint8_t padding_mask_ = 0;  // mask of the bits in the last byte that must be 0
  std::optional<FilterView> filter_;
};

}  // namespace bloom
