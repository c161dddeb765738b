#include "sql/values/handles.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "core/support/error.h"

namespace bloom {

constinit std::atomic<std::uintptr_t> closed_handles = 0;

namespace {

using Number = std::uintptr_t;

// All open filters of the process by the numbers of their handles. It is global because SQLite
// passes only the pointer to the destructor of a value, not its connection.
class OpenFilters {
 public:
  Number open(std::unique_ptr<const Filter> filter) {
    const std::lock_guard lock(mutex_);
    if (last_ == ~Number{0}) {  // 32 bits: after 4 billion filters
      throw Error(Error::Kind::too_big, "no more filters can be opened in this process");
    }
    filters_.emplace(last_ + 1, std::move(filter));
    return ++last_;
  }

  void close(Number number) noexcept {
    decltype(filters_)::node_type closed;  // freed after the lock is released
    const std::lock_guard lock(mutex_);
    closed = filters_.extract(number);
    closed_handles.fetch_add(1, std::memory_order_release);
  }

  // The filter stays open after the lock is released: it cannot be closed during a call, because
  // its connection is busy with that call.
  Handle find(Number number) {
    const std::lock_guard lock(mutex_);
    const auto found = filters_.find(number);
    if (found == filters_.end()) {
      return {.state = HandleState::closed};
    }
    return {.state = HandleState::open,
            .number = number,
            .filter = found->second.get(),
            .closed_handles_before = closed_handles.load(std::memory_order_acquire)};
  }

 private:
  std::mutex mutex_;
  Number last_ = 0;  // the number given out last; no number is given out twice
  std::map<Number, std::unique_ptr<const Filter>> filters_;
};

// Never destroyed: a host may close its connections after this library's destructors have run. An
// empty map owns no memory, so nothing leaks if all filters are closed.
OpenFilters& open_filters() {
  alignas(OpenFilters) static std::byte storage[sizeof(OpenFilters)];
  static auto* const filters = new (storage) OpenFilters;
  return *filters;
}

void close_handle(void* pointer) { open_filters().close(reinterpret_cast<Number>(pointer)); }

}  // namespace

void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter) {
  const Number number = open_filters().open(std::move(filter));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): never dereferenced
  context.result_pointer(reinterpret_cast<void*>(number), kHandleType, close_handle);
}

Handle find_handle(const sqlite::Value& value) {
  const void* pointer = value.pointer(kHandleType);
  return pointer == nullptr ? Handle() : open_filters().find(reinterpret_cast<Number>(pointer));
}

}  // namespace bloom
