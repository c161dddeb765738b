#include "tests/faults/allocator.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "tests/support/database.h"

namespace {

long failing = 0;  // the number of the request that fails; 0: none
bool failing_on = false;
long asked = 0;
bool failed = false;
long used = 0;

std::string library;
bool noting = false;
std::vector<std::uint64_t> sites;

std::uint64_t site() {
  constexpr int kFrames = 40;
  constexpr int kCalls = 2;  // the innermost
  constexpr std::uint64_t kPrime = 0x100000001b3;
  void* frames[kFrames];
  std::uint64_t hash = 0;
  const int count = backtrace(frames, kFrames);
  for (int i = 0, calls = 0; i < count && calls < kCalls; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) != 0 && std::string_view(info.dli_fname).ends_with(library)) {
      const auto offset = static_cast<const char*>(frames[i]) - static_cast<char*>(info.dli_fbase);
      hash = (hash ^ static_cast<std::uint64_t>(offset)) * kPrime;
      ++calls;
    }
  }
  return hash;
}

bool fails() {
  if (noting && bloom::test::in_sqlite) {
    noting = false;
    sites.push_back(site());
    noting = true;
  }
  if (failing == 0 || !bloom::test::in_sqlite) {
    return false;
  }
  ++asked;
  const bool now = failing_on ? asked >= failing : asked == failing;
  if (now) {
    failed = true;
    errno = ENOMEM;
  }
  return now;
}

void* counted(void* memory) {
  used += memory != nullptr ? 1 : 0;
  return memory;
}

}  // namespace

// The C library's own, and what takes their place.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) { return fails() ? nullptr : counted(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) {
  return fails() ? nullptr : counted(__libc_calloc(count, size));
}

void* realloc(void* old, std::size_t size) {
  if (fails()) {
    return nullptr;
  }
  void* const memory = __libc_realloc(old, size);
  return old == nullptr ? counted(memory) : memory;
}

void free(void* memory) {
  used -= memory != nullptr ? 1 : 0;
  __libc_free(memory);
}

void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (fails()) {
    return MAP_FAILED;
  }
  const long memory = syscall(SYS_mmap, address, size, protection, flags, file, offset);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system call gives a number
  return memory == -1 ? MAP_FAILED : counted(reinterpret_cast<void*>(memory));
}

int munmap(void* memory, std::size_t size) {
  --used;
  return static_cast<int>(syscall(SYS_munmap, memory, size));
}
}
// NOLINTEND(bugprone-reserved-identifier, readability-inconsistent-declaration-parameter-name)

namespace bloom::faults {

void fail_request(long n, bool lasting) {
  asked = 0;
  failed = false;
  failing = n;
  failing_on = lasting;
}

void stop_failing() { failing = 0; }

bool has_failed() { return failed; }

void note_sites(const std::string& of) {
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads what it needs
  library = of;
  noting = true;
}

std::vector<std::uint64_t> noted_sites() {
  noting = false;
  return std::exchange(sites, {});
}

long in_use() { return used; }

}  // namespace bloom::faults
