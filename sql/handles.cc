#include "sql/handles.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "core/error.h"

namespace bloom {
namespace {

// SQLite compares the type of pointer values by its text, across all extensions.
constexpr char kHandleType[] = "sqlite-bloom handle";

using Number = std::uintptr_t;

// All open filters of the process: SQLite tells of a dropped value without saying where it was.
class OpenFilters {
 public:
  Number open(std::unique_ptr<const Filter> filter) {
    const std::lock_guard lock(mutex_);
    if (last_ + 1 == 0) {
      throw Error(Error::Kind::too_big, "no more filters can be opened in this process");
    }
    filters_.emplace(last_ + 1, std::move(filter));
    return ++last_;
  }

  void close(Number number) {
    const std::lock_guard lock(mutex_);
    filters_.erase(number);
    closed_.fetch_add(1, std::memory_order_release);
  }

  // A filter is asked again and again, so each thread remembers the last one until any is closed.
  // None that is asked can be closed meanwhile: its connection is busy asking.
  const Filter* find(Number number) {
    thread_local struct {
      Number number;
      std::uint64_t closed;
      const Filter* filter;
    } last = {};
    const std::uint64_t closed = closed_.load(std::memory_order_acquire);
    if (last.number != number || last.closed != closed) {
      const std::lock_guard lock(mutex_);
      const auto found = filters_.find(number);
      last = {number, closed, found == filters_.end() ? nullptr : found->second.get()};
    }
    return last.filter;
  }

 private:
  std::mutex mutex_;
  std::map<Number, std::unique_ptr<const Filter>> filters_;
  Number last_ = 0;
  std::atomic<std::uint64_t> closed_ = 0;
};

// Never destroyed: a host may close its connections after the destructors of this library have run.
OpenFilters& open_filters() {
  alignas(OpenFilters) static std::byte storage[sizeof(OpenFilters)];
  static auto* const filters = new (storage) OpenFilters;
  return *filters;
}

void close_handle(void* pointer) { open_filters().close(reinterpret_cast<Number>(pointer)); }

}  // namespace

void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter) {
  const Number number = open_filters().open(std::move(filter));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed
  context.pointer(reinterpret_cast<void*>(number), kHandleType, close_handle);
}

Handle handle_of(const sqlite::Value& value) {
  const void* pointer = value.pointer(kHandleType);
  if (pointer == nullptr) {
    return {HandleState::none, nullptr};
  }
  const Filter* filter = open_filters().find(reinterpret_cast<Number>(pointer));
  return {filter == nullptr ? HandleState::gone : HandleState::open, filter};
}

}  // namespace bloom
