#include "core/memory.h"

#include <cstdlib>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bloom {
namespace {

// What the system gave, noted in the line in front of the bytes.
struct Origin {
  void* memory;
  std::size_t mapped;  // so many bytes of mmap(); 0: of calloc()
};
constexpr std::size_t kBefore = 2 * kLineBytes;
static_assert(sizeof(Origin) <= kLineBytes);

#ifdef __linux__
// From here on the system's own pages are better than what free() left: zero already, and huge if
// all are used, which are quicker to get, and to find cells in.
constexpr std::size_t kLarge = std::size_t{4} << 20;
#endif

Origin allocate(std::size_t size, [[maybe_unused]] Use use) {
#ifdef __linux__
  if (size >= kLarge) {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    // Advice: where it is not taken, all else is the same.
    static_cast<void>(madvise(memory, size, use == Use::all ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
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

OwnedBytes zeroed_bytes(std::uint64_t size, Use use) {
  if (size > std::numeric_limits<std::size_t>::max() - kBefore) {
    throw std::bad_alloc();
  }
  const Origin origin = allocate(static_cast<std::size_t>(size) + kBefore, use);
  const auto address = reinterpret_cast<std::uintptr_t>(origin.memory);
  const std::size_t skip = kBefore - address % kLineBytes;
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
