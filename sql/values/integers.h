// The unsigned integers of the core as those of SQLite and of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloom {

// Returns a slot, an id or a count as SQLite stores it.
inline std::int64_t as_integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
// For sizes and positions in memory, which are smaller than 2^32 on 32-bit machines.
inline std::size_t as_size(std::uint64_t value) { return static_cast<std::size_t>(value); }

}  // namespace bloom
