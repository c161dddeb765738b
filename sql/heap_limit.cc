#include "sql/heap_limit.h"

#include <limits>

#include "sql/sqlite/api.h"

namespace bloom {

std::uint64_t memory_below_heap_limit(std::uint64_t counted) {
  const auto limit = static_cast<std::uint64_t>(sqlite3_hard_heap_limit64(-1));
  if (limit == 0) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  const std::uint64_t used = static_cast<std::uint64_t>(sqlite3_memory_used()) + counted;
  return used < limit ? limit - used : 0;
}

}  // namespace bloom
