#include "sql/functions/cached_filter_argument.h"

#include <algorithm>

#include "sql/values/arguments.h"

namespace bloom {

const FilterView& CachedFilterArgument::read_handle(const Values& arguments) {
  handle_ = open_handle_argument(arguments);
  return handle_.filter->view();
}

void CachedFilterArgument::read_blob(const Values& arguments) {
  handle_ = {};
  // Without the checksum of the cells: the next blob may have the same header and other cells.
  const FilterView view = unverified_filter_argument(arguments, 0);
  filter_.emplace(view.header(), view.cells());
  const ByteView stored = arguments[0].blob();
  std::copy_n(stored.begin(), kHeaderBytes, header_.begin());
  size_ = stored.size();
  padding_mask_ = padding_mask(filter_->shape());
}

}  // namespace bloom
