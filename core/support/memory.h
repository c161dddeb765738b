// The memory that grows with data: zeroed, cache-line-aligned bytes for filters, and the allocator
// of containers. All of it is counted, and the host program can limit it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace bloom {

// The cache line size of common processors, in bytes. Only speed depends on it.
inline constexpr std::size_t kCacheLineBytes = 64;

// Returns how many more bytes this process may count if `counted` bytes are counted already.
// Requires: thread-safe, calls no function of this header, and does not throw.
using MemoryLimit = std::uint64_t (*)(std::uint64_t counted);
// Sets the limit, for all threads. Without a limit, only the system refuses memory.
void set_memory_limit(MemoryLimit limit);
// Returns how many more bytes may be counted now: 2^64 - 1 if there is no limit.
std::uint64_t available_memory();

// Counts bytes that the caller is about to allocate. Throws std::bad_alloc, and counts nothing, if
// the limit does not allow them. To be fast, it consults the limit only once per 64 KiB.
void count_memory(std::uint64_t bytes);
// Subtracts bytes that the caller has freed.
void discount_memory(std::uint64_t bytes) noexcept;

// Counts bytes, and subtracts them again in its destructor, unless keep() was called.
class CountedMemory {
 public:
  explicit CountedMemory(std::uint64_t bytes) : bytes_(bytes) { count_memory(bytes); }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;
  ~CountedMemory() {
    if (bytes_ != 0) {
      discount_memory(bytes_);
    }
  }
  void keep() { bytes_ = 0; }

 private:
  std::uint64_t bytes_;
};

// Frees the memory of zeroed_bytes(). Does nothing if `bytes` is null.
void free_bytes(void* bytes);

struct FreeBytes {
  void operator()(std::uint8_t* bytes) const { free_bytes(bytes); }
};
using OwnedBytes = std::unique_ptr<std::uint8_t[], FreeBytes>;

// How many of the allocated bytes the caller will use. Huge pages are faster if it uses most of
// them (dense). Small pages save memory if it uses few of them (sparse).
enum class Access { dense, sparse };

// Returns `size` zeroed bytes, aligned to a cache line. Large blocks are committed lazily, but
// count as a whole. Throws std::bad_alloc.
OwnedBytes zeroed_bytes(std::uint64_t size, Access access);

// The allocator of containers that grow with data.
template <typename T>
class CountedAllocator {
 public:
  using value_type = T;

  CountedAllocator() = default;
  template <typename U>
  CountedAllocator(const CountedAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / kSize) {
      throw std::bad_alloc();
    }
    CountedMemory counted(n * kSize);
    T* const memory = std::allocator<T>().allocate(n);
    counted.keep();
    return memory;
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    std::allocator<T>().deallocate(memory, n);
    discount_memory(n * kSize);
  }

  bool operator==(const CountedAllocator&) const { return true; }

 private:
  static constexpr std::size_t kSize = sizeof(T);  // NOLINT(bugprone-sizeof-expression): any T
};

template <typename T>
using CountedVector = std::vector<T, CountedAllocator<T>>;
using CountedString = std::basic_string<char, std::char_traits<char>, CountedAllocator<char>>;

// Prefetches the cache line that contains `address`.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace bloom
