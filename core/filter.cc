#include "core/filter.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace bloom {
namespace {

OwnedBytes zeroed_bytes(std::uint64_t size) {
  if (size > std::numeric_limits<std::size_t>::max()) {
    throw std::bad_alloc();
  }
  OwnedBytes bytes(static_cast<std::uint8_t*>(std::calloc(static_cast<std::size_t>(size), 1)));
  if (!bytes) {
    throw std::bad_alloc();
  }
  return bytes;
}

}  // namespace

std::variant<FilterView, Problem> open_filter(ByteView stored) {
  auto header = read_header(stored);
  if (auto* problem = std::get_if<Problem>(&header)) {
    return std::move(*problem);
  }
  return FilterView(std::get<Header>(header), stored.data() + kHeaderBytes);
}

Filter::Filter(const Header& header)
    : bytes_(zeroed_bytes(stored_bytes(header.shape))), view_(header, cells()) {
  set_target(header.capacity, header.fpr);
}

Filter::Filter(const FilterView& view) : Filter(view.header()) {
  std::copy_n(view.cells(), cell_bytes(shape()), cells());
}

bool Filter::add(const Hash& hash) {
  if (shape().kind == Kind::counting) {
    return add_key(view_.geometry(), hash, ArrayOf<Counters, std::uint8_t>{cells()});
  }
  return add_key(view_.geometry(), hash, ArrayOf<Bits, std::uint8_t>{cells()});
}

bool Filter::remove(const Hash& hash) {
  return remove_key(view_.geometry(), hash, ArrayOf<Counters, std::uint8_t>{cells()});
}

void Filter::set_target(std::uint64_t capacity, double fpr) {
  const Header header{.shape = shape(), .capacity = capacity, .fpr = fpr};
  view_ = FilterView(header, cells());
  const auto bytes = write_header(header);
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

}  // namespace bloom
