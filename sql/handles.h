// Handles of open filters: the pointer values that bloom_open() returns.
//
// SQLite passes pointer values on without ownership. For example, nullif() can return a pointer
// whose owner is freed a moment later. So the pointer is not an address but a number that is never
// given out twice. Looking up the number tells whether the filter is still open.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/filter/filter.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/value.h"

namespace bloom {

// The pointer type. SQLite compares pointer types as strings, across all extensions.
inline constexpr char kHandleType[] = "sqlite-bloom";

// Sets an open filter as the result of a call. The filter is closed when SQLite drops the value.
void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter);

enum class HandleState { none, gone, open };

struct Handle {
  HandleState state = HandleState::none;
  const Filter* filter = nullptr;  // if open; valid during the SQL call
  // The number of the handle. While the filter is open, *place is equal to it.
  std::uintptr_t number = 0;
  const std::atomic<std::uintptr_t>* place = nullptr;

  // Returns whether `value` is this handle and its filter is still open.
  bool is_open(const sqlite::Value& value) const {
    return number != 0 && reinterpret_cast<std::uintptr_t>(value.pointer(kHandleType)) == number &&
           place->load(std::memory_order_acquire) == number;
  }
};

Handle handle_of(const sqlite::Value& value);

}  // namespace bloom
