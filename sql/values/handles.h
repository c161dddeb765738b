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

// The number of handles that this process has closed. Written in handles.cc only.
extern std::atomic<std::uintptr_t> closed_handles;

// Sets an open filter as the result of a call. The filter is closed when SQLite drops the value.
void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter);

enum class HandleState { not_a_handle, closed, open };

// A handle as find_handle() found it.
struct Handle {
  HandleState state = HandleState::not_a_handle;
  std::uintptr_t number = 0;                 // 0 unless open
  const Filter* filter = nullptr;            // null unless open; valid during the SQL call
  std::uintptr_t closed_handles_before = 0;  // closed_handles when this handle was found

  // Returns true if `value` is this handle and no handle was closed since it was found: its filter
  // is then still open. Takes no lock. After false, find_handle() tells what the value is.
  bool is_known_open(const sqlite::Value& value) const {
    return number != 0 && reinterpret_cast<std::uintptr_t>(value.pointer(kHandleType)) == number &&
           closed_handles.load(std::memory_order_acquire) == closed_handles_before;
  }
};

// Returns what the value is: an open handle, a closed one or none.
Handle find_handle(const sqlite::Value& value);

}  // namespace bloom
