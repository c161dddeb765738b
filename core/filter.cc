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
    : header_(header), geometry_(header.shape), bytes_(zeroed_bytes(stored_bytes(header.shape))) {
  store_header();
}

Filter::Filter(const FilterView& view) : Filter(view.header()) {
  std::copy_n(view.cells(), cell_bytes(shape()), cells());
}

bool Filter::add(const Hash& hash) {
  bool changed = false;
  std::uint8_t* const to = cells();
  if (shape().kind == Kind::counting) {
    geometry_.visit(hash, [&](auto i) { return changed |= Counters::add(to, i), true; });
  } else {
    geometry_.visit(hash, [&](auto i) { return changed |= Bits::add(to, i), true; });
  }
  return changed;
}

bool Filter::remove(const Hash& hash) {
  std::uint8_t* const from = cells();
  std::uint32_t removed = 0;
  const bool present =
      geometry_.visit(hash, [&](auto i) { return Counters::remove(from, i) && (++removed, true); });
  if (!present) {
    // Adding undoes each removal: a counter that was stuck was not changed by either.
    geometry_.visit(
        hash, [&](auto i) { return removed > 0 && (--removed, Counters::add(from, i), true); });
  }
  return present;
}

void Filter::set_target(std::uint64_t capacity, double fpr) {
  header_.capacity = capacity;
  header_.fpr = fpr;
  store_header();
}

void Filter::store_header() {
  const auto header = write_header(header_);
  std::copy(header.begin(), header.end(), bytes_.get());
}

}  // namespace bloom
