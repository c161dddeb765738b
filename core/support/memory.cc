#include "core/support/memory.h"

#include <atomic>
#include <cstdlib>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bloom {
namespace {

constinit std::atomic<MemoryLimit> memory_limit = nullptr;
constinit std::atomic<std::uint64_t> counted_bytes = 0;

// The limit is consulted when the sum passes a multiple of 2^kStepBits bytes. It takes 10 times as
// long as counting.
constexpr unsigned kStepBits = 16;

// How a block was allocated. Stored in the cache line before the bytes that the caller gets.
struct Origin {
  void* memory;
  std::size_t size;
  bool is_mapped;  // by mmap(); otherwise calloc() allocated the memory
};
constexpr std::size_t kPrefixBytes = 2 * kCacheLineBytes;
static_assert(sizeof(Origin) <= kCacheLineBytes);

#ifdef __linux__
// At this size and above, mmap() is faster than calloc(). Its pages are already zero, which helps
// most if few of them are used. Huge pages are faster to allocate and cause fewer TLB misses.
constexpr std::size_t kMinMappedBytes = std::size_t{4} << 20;
constexpr std::size_t kMinMappedBytesIfSparse = std::size_t{64} << 10;
#endif

Origin allocate(std::size_t size, [[maybe_unused]] Access access) {
#ifdef __linux__
  if (size >= (access == Access::dense ? kMinMappedBytes : kMinMappedBytesIfSparse)) {
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
    return {memory, size, true};
  }
#endif
  void* const memory = std::calloc(size, 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return {memory, size, false};
}

Origin& origin_of(void* bytes) {
  return *reinterpret_cast<Origin*>(static_cast<std::uint8_t*>(bytes) - sizeof(Origin));
}

}  // namespace

void set_memory_limit(MemoryLimit limit) { memory_limit.store(limit, std::memory_order_release); }

std::uint64_t available_memory() {
  const MemoryLimit limit = memory_limit.load(std::memory_order_acquire);
  return limit == nullptr ? std::numeric_limits<std::uint64_t>::max()
                          : limit(counted_bytes.load(std::memory_order_relaxed));
}

void count_memory(std::uint64_t bytes) {
  const std::uint64_t before = counted_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (before >> kStepBits == (before + bytes) >> kStepBits) {
    return;
  }
  const MemoryLimit limit = memory_limit.load(std::memory_order_acquire);
  if (limit != nullptr && bytes > limit(before)) {
    discount_memory(bytes);
    throw std::bad_alloc();
  }
}

void discount_memory(std::uint64_t bytes) noexcept {
  counted_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

OwnedBytes zeroed_bytes(std::uint64_t size, Access access) {
  if (size > std::numeric_limits<std::size_t>::max() - kPrefixBytes) {
    throw std::bad_alloc();
  }
  const auto allocated = static_cast<std::size_t>(size) + kPrefixBytes;
  CountedMemory counted(allocated);
  const Origin origin = allocate(allocated, access);
  counted.keep();
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
  discount_memory(origin.size);
#ifdef __linux__
  if (origin.is_mapped) {
    munmap(origin.memory, origin.size);
    return;
  }
#endif
  std::free(origin.memory);
}

}  // namespace bloom
