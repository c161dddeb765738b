#include "core/filter/filter.h"

#include <algorithm>
#include <utility>

#include "core/layout/shape.h"

namespace bloom {

std::variant<FilterView, Problem> open_filter(ByteView stored) {
  auto header = read_filter_header(stored);
  if (auto* problem = std::get_if<Problem>(&header)) {
    return std::move(*problem);
  }
  return FilterView(std::get<Header>(header), stored.data() + kHeaderBytes);
}

Filter::Filter(const Header& header)
    : bytes_(zeroed_bytes(stored_bytes(header.shape), Access::dense)), view_(header, cells()) {
  set_target(header.capacity, header.fpr);
}

Filter::Filter(const FilterView& view, const InterruptCheck& check_interrupt)
    : Filter(view.header()) {
  for_each_piece(cell_bytes(shape()), kPieceBytes, check_interrupt, [&](auto first, auto bytes) {
    std::copy_n(view.cells() + first, bytes, cells() + first);
  });
}

void Filter::set_target(std::uint64_t capacity, double fpr) {
  const Header header{.shape = shape(), .capacity = capacity, .fpr = fpr};
  view_ = FilterView(header, cells());
  const auto bytes = write_header(header);
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

}  // namespace bloom
