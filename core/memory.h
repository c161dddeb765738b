// Memory for filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bloom {

// What processors have by now; used for speed alone.
inline constexpr std::size_t kLineBytes = 64;

void free_bytes(void* bytes);

struct FreeBytes {
  void operator()(std::uint8_t* bytes) const { free_bytes(bytes); }
};
using OwnedBytes = std::unique_ptr<std::uint8_t[], FreeBytes>;

// How much of the bytes will be used soon: what the system gives in few huge pages, or in small
// ones.
enum class Use { all, some };

// So many bytes that are 0, from the start of a line of the processor's cache on. Large ones cost
// what is used of them. Throws std::bad_alloc.
OwnedBytes zeroed_bytes(std::uint64_t size, Use use);

// Asks the processor for a line of its cache that will be used soon.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace bloom
