// Zeroed, cache-line-aligned memory for filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bloom {

// The cache line size of common processors, in bytes. Only speed depends on it.
inline constexpr std::size_t kCacheLineBytes = 64;

// Frees the memory of zeroed_bytes(). Does nothing if `bytes` is null.
void free_bytes(void* bytes);

struct FreeBytes {
  void operator()(std::uint8_t* bytes) const { free_bytes(bytes); }
};
using OwnedBytes = std::unique_ptr<std::uint8_t[], FreeBytes>;

// How many of the allocated bytes the caller will use. Huge pages are faster if it uses most of
// them (dense). Small pages save memory if it uses few of them (sparse).
enum class Access { dense, sparse };

// Returns `size` zeroed bytes, aligned to a cache line. Large blocks are committed lazily. Throws
// std::bad_alloc.
OwnedBytes zeroed_bytes(std::uint64_t size, Access access);

// Prefetches the cache line that contains `address`.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace bloom
