#include "sql/handles.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/support/error.h"

namespace bloom {
namespace {

// The number that a pointer value holds: the place of an open filter in the process, and how often
// that place was used before. 64 bits have room for 16 million places, used 10^12 times each. 32
// bits have room for 4,000 places, used a million times each.
using Number = std::uintptr_t;
constexpr int kPlaceBits = sizeof(Number) > 4 ? 24 : 12;
constexpr Number kOneUse = Number{1} << kPlaceBits;
constexpr Number kPlaces = kOneUse - 1;  // place 0 is never used, so no pointer is null

// All open filters of the process. It is global because SQLite passes only the pointer to the
// destructor of a value, not its connection.
class OpenFilters {
 public:
  Number open(std::unique_ptr<const Filter> filter) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      add_places();
    }
    const Number number = free_.back();
    free_.pop_back();
    Place& place = place_of(number);
    place.filter = std::move(filter);
    place.number.store(number, std::memory_order_release);
    ++open_;
    return number;
  }

  // A place is retired when its use count would overflow, so a number is never given out twice.
  void close(Number number) {
    const std::lock_guard lock(mutex_);
    Place& place = place_of(number);
    place.number.store(0, std::memory_order_release);
    place.filter.reset();
    --open_;
    if (number + kOneUse > number) {
      free_.push_back(number + kOneUse);  // cannot fail: the capacity is reserved
    }
  }

  // Frees the memory when the library is unloaded or the program ends. If the host still has open
  // filters then, nothing is freed and the handles stay valid. If it opens filters later, their
  // numbers continue after those that were used.
  void end() {
    const std::lock_guard lock(mutex_);
    if (open_ == 0 && !free_.empty()) {
      first_use_ = 1 + *std::max_element(free_.begin(), free_.end()) / kOneUse;
      rows_ = {};
      next_row_ = 0;
      std::vector<Number>().swap(free_);
    }
  }

  // Needs no lock. A filter cannot be closed during a query, because its connection is busy with
  // that query. And places never move.
  Handle find(Number number) const {
    if (rows_[row_of(number & kPlaces)] == nullptr) {
      return {HandleState::gone};
    }
    const Place& place = place_of(number);
    if (place.number.load(std::memory_order_acquire) != number) {
      return {HandleState::gone};
    }
    return {HandleState::open, place.filter.get(), number, &place.number};
  }

 private:
  struct Place {
    std::atomic<Number> number = 0;  // 0: no filter is open here
    std::unique_ptr<const Filter> filter;
  };

  // Row i holds the places 2^i to 2^(i+1) - 1. Requires: place != 0.
  static unsigned row_of(Number place) {
    return static_cast<unsigned>(std::bit_width(place | 1)) - 1;
  }

  Place& place_of(Number number) const {
    const Number place = number & kPlaces;
    const unsigned row = row_of(place);
    return rows_[row][place - (Number{1} << row)];
  }

  void add_places() {
    if (next_row_ == kPlaceBits) {
      throw Error(Error::Kind::too_big, "no more filters can be opened in this process");
    }
    const Number first = Number{1} << next_row_;
    auto places = std::make_unique<Place[]>(first);
    free_.reserve(2 * first);
    for (Number i = 2 * first; i-- > first;) {
      free_.push_back(first_use_ * kOneUse + i);
    }
    rows_[next_row_++] = std::move(places);
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<Place[]>, kPlaceBits> rows_;
  unsigned next_row_ = 0;
  std::size_t open_ = 0;
  Number first_use_ = 0;      // use count with which new places start
  std::vector<Number> free_;  // the next number of each free place
};

// Never destroyed: a host may close its connections after this library's destructors have run.
OpenFilters& open_filters() {
  alignas(OpenFilters) static std::byte storage[sizeof(OpenFilters)];
  static auto* const filters = new (storage) OpenFilters;
  static const struct AtEnd {
    ~AtEnd() { filters->end(); }
  } at_end;
  return *filters;
}

void close_handle(void* pointer) { open_filters().close(reinterpret_cast<Number>(pointer)); }

}  // namespace

void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter) {
  const Number number = open_filters().open(std::move(filter));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never dereferenced
  context.pointer(reinterpret_cast<void*>(number), kHandleType, close_handle);
}

Handle handle_of(const sqlite::Value& value) {
  const void* pointer = value.pointer(kHandleType);
  return pointer == nullptr ? Handle() : open_filters().find(reinterpret_cast<Number>(pointer));
}

}  // namespace bloom
