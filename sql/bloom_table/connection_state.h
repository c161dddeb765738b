// What filters tell each other, and what they count.
#pragma once

#include <cstdint>

namespace bloom {

class CachedFilter;

// What the filters of one connection share. Must outlive them.
struct ConnectionState {
  // Goes up whenever a filter has written rows, or may have lost some to a rollback.
  std::uint64_t epoch = 1;
  CachedFilter* deferring = nullptr;  // the last filter that has deferred changes
};

// What the lookups of one connection have done, since it opened the table or read the schema again.
struct LookupCounts {
  std::uint64_t lookups = 0;
  std::uint64_t absent = 0;  // of them
};

}  // namespace bloom
