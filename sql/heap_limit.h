// The limit that the host program sets for SQLite's memory (PRAGMA hard_heap_limit).
#pragma once

#include <cstdint>

namespace bloom {

// Returns how many bytes the extension may still allocate outside SQLite, if it has allocated
// `counted` bytes: what is left of the hard heap limit. Returns 2^64 - 1 if there is no limit. A
// MemoryLimit of core/support/memory.h.
std::uint64_t memory_below_heap_limit(std::uint64_t counted);

}  // namespace bloom
