#include "core/memory.h"

#include <cstdlib>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bloom {
namespace {

// From here on a few huge pages are quicker to get, and to find cells in, than many small ones.
constexpr std::uint64_t kLarge = std::uint64_t{4} << 20;

std::uintptr_t round_up(std::uintptr_t address, std::uintptr_t unit) {
  return (address + unit - 1) / unit * unit;
}

void use_huge_pages(std::uint8_t* bytes, std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<std::uintptr_t>(bytes);
  const std::uintptr_t first = round_up(address, kPage);
  // Advice: where it is not taken, all else is the same.
  static_cast<void>(madvise(bytes + (first - address), size - (first - address), MADV_HUGEPAGE));
#else
  static_cast<void>(bytes);
  static_cast<void>(size);
#endif
}

}  // namespace

// What calloc() gave is noted in front of the bytes.
OwnedBytes zeroed_bytes(std::uint64_t size) {
  constexpr std::size_t kBefore = sizeof(void*) + kLineBytes;
  if (size > std::numeric_limits<std::size_t>::max() - kBefore) {
    throw std::bad_alloc();
  }
  auto* const got = static_cast<std::uint8_t*>(
      std::calloc(static_cast<std::size_t>(size) + kBefore, 1));
  if (got == nullptr) {
    throw std::bad_alloc();
  }
  const auto address = reinterpret_cast<std::uintptr_t>(got);
  std::uint8_t* const bytes = got + (round_up(address + sizeof(void*), kLineBytes) - address);
  reinterpret_cast<void**>(bytes)[-1] = got;
  if (size >= kLarge) {
    use_huge_pages(bytes, static_cast<std::size_t>(size));
  }
  return OwnedBytes(bytes);
}

void free_bytes(void* bytes) {
  if (bytes != nullptr) {
    std::free(static_cast<void**>(bytes)[-1]);
  }
}

}  // namespace bloom
