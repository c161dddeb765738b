#include "tests/faults/allocator.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "tests/support/database.h"

namespace {

long failing = 0;  // the number of the request that fails; 0: none
bool failing_on = false;
long asked = 0;
bool failed = false;
long used = 0;

bool fails() {
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

long in_use() { return used; }

}  // namespace bloom::faults
