#include "core/filter/filter.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/layout/checksum.h"
#include "core/layout/shape.h"

namespace bloom {

std::variant<FilterView, Problem> open_filter(ByteView stored) {
  auto parsed = read_filter_header(stored);
  if (auto* problem = std::get_if<Problem>(&parsed)) {
    return std::move(*problem);
  }
  const auto& [header, cell_checksum] = std::get<FilterHeader>(parsed);
  return FilterView(header, stored.data() + kHeaderBytes, cell_checksum);
}

std::optional<Problem> find_damage(const FilterView& filter,
                                   const InterruptCheck& check_interrupt) {
  const auto stored = filter.cell_checksum();
  if (stored &&
      *stored != checksum_of_cells(filter.cells(), cell_bytes(filter.shape()), check_interrupt)) {
    return Problem::damaged("cell checksum does not match");
  }
  return std::nullopt;
}

Filter::Filter(const Header& header)
    : bytes_(zeroed_bytes(stored_bytes(header.shape), Access::dense)), view_(header, cells()) {
  assert(!broken_rule(header.shape));
}

Filter::Filter(const FilterView& view, const InterruptCheck& check_interrupt)
    : Filter(view.header()) {
  for_each_piece(cell_bytes(shape()), kPieceBytes, check_interrupt, [&](auto first, auto bytes) {
    std::copy_n(view.cells() + first, bytes, cells() + first);
  });
}

void Filter::set_target(std::uint64_t capacity, double fpr) {
  view_ = FilterView({.shape = shape(), .capacity = capacity, .fpr = fpr}, cells());
}

ByteView Filter::stored(const InterruptCheck& check_interrupt) {
  const auto header = write_filter_header(
      view_.header(), checksum_of_cells(cells(), cell_bytes(shape()), check_interrupt));
  std::copy(header.begin(), header.end(), bytes_.get());
  return {bytes_.get(), static_cast<std::size_t>(stored_bytes(shape()))};
}

OwnedBytes Filter::release(const InterruptCheck& check_interrupt) {
  stored(check_interrupt);
  return std::move(bytes_);
}

}  // namespace bloom
