#include "core/support/memory.h"

#include <cstdlib>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bloom {
namespace {

// How a block was allocated. Stored in the cache line before the bytes that the caller gets.
struct Origin {
  void* memory;
  std::size_t mapped;  // bytes mapped by mmap(); 0 if calloc() allocated the memory
};
constexpr std::size_t kPrefixBytes = 2 * kCacheLineBytes;
static_assert(sizeof(Origin) <= kCacheLineBytes);

#ifdef __linux__
// At this size and above, mmap() is faster than calloc(). Its pages are already zero, and huge
// pages are faster to allocate and cause fewer TLB misses.
constexpr std::size_t kMinMappedBytes = std::size_t{4} << 20;
#endif

Origin allocate(std::size_t size, [[maybe_unused]] Access access) {
#ifdef __linux__
  if (size >= kMinMappedBytes) {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    // madvise() is only a hint, so its failure affects nothing but speed.
    static_cast<void>(
        madvise(memory, size, access == Access::dense ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
#endif
    return {memory, size};
  }
#endif
  void* const memory = std::calloc(size, 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return {memory, 0};
}

Origin& origin_of(void* bytes) {
  return *reinterpret_cast<Origin*>(static_cast<std::uint8_t*>(bytes) - sizeof(Origin));
}

}  // namespace

OwnedBytes zeroed_bytes(std::uint64_t size, Access access) {
  if (size > std::numeric_limits<std::size_t>::max() - kPrefixBytes) {
    throw std::bad_alloc();
  }
  const Origin origin = allocate(static_cast<std::size_t>(size) + kPrefixBytes, access);
  const auto address = reinterpret_cast<std::uintptr_t>(origin.memory);
  const std::size_t skip = kPrefixBytes - address % kCacheLineBytes;
  std::uint8_t* const bytes = static_cast<std::uint8_t*>(origin.memory) + skip;
  origin_of(bytes) = origin;
  return OwnedBytes(bytes);
}

void free_bytes(void* bytes) {
  if (bytes == nullptr) {
    return;
  }
  const Origin origin = origin_of(bytes);
#ifdef __linux__
  if (origin.mapped != 0) {
    munmap(origin.memory, origin.mapped);
    return;
  }
#endif
  std::free(origin.memory);
}

}  // namespace bloom
