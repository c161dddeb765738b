// Opened filters: what bloom_open() gives out as a pointer value of SQLite.
//
// SQLite passes such pointers on without their ownership: nullif() can hand one out whose owner is
// gone a moment later. So the pointer is no address but a number, given out once and never again;
// looking it up tells a filter that is open from one that is gone.
#pragma once

#include <memory>

#include "core/filter.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/value.h"

namespace bloom {

// Makes an open filter the result of a call. It is closed when SQLite drops the value.
void return_handle(sqlite::Context& context, std::unique_ptr<const Filter> filter);

enum class HandleState { none, gone, open };

struct Handle {
  HandleState state;
  const Filter* filter;  // if open; for the duration of the call
};

Handle handle_of(const sqlite::Value& value);

}  // namespace bloom
