// Opened filters: what bloom_open() gives out as a pointer value of SQLite.
//
// SQLite passes such pointers on without their ownership: nullif() can hand one out whose owner is
// gone a moment later. So the pointer is no address but a number, given out once and never again;
// looking it up tells a filter that is open from one that is gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/filter/filter.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/value.h"

namespace bloom {

// SQLite compares the type of pointer values by its text, across all extensions.
inline constexpr char kHandleType[] = "sqlite-bloom";

// Makes an open filter the result of a call. It is closed when SQLite drops the value.
void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter);

enum class HandleState { none, gone, open };

struct Handle {
  HandleState state = HandleState::none;
  const Filter* filter = nullptr;  // if open; for the duration of the call
  // The number, and where it stands as long as the filter is open.
  std::uintptr_t number = 0;
  const std::atomic<std::uintptr_t>* place = nullptr;

  // Whether the value is this handle, and still open.
  bool is_open(const sqlite::Value& value) const {
    return number != 0 && reinterpret_cast<std::uintptr_t>(value.pointer(kHandleType)) == number &&
           place->load(std::memory_order_acquire) == number;
  }
};

Handle handle_of(const sqlite::Value& value);

}  // namespace bloom
