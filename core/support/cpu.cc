#include "core/support/cpu.h"

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace bloom {
namespace {

#if defined(__x86_64__) && defined(__GNUC__)

// Bits of XCR0: which registers the operating system saves when it switches threads.
constexpr std::uint32_t kYmmRegisters = 0x06;
constexpr std::uint32_t kZmmRegisters = 0xe6;

std::uint32_t saved_registers() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

CpuFeatures read_features() {
  CpuFeatures features;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) {
    return features;
  }
  features.popcnt = (c & bit_POPCNT) != 0;
  const std::uint32_t saved = (c & bit_OSXSAVE) != 0 ? saved_registers() : 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) {
    return features;
  }
  features.avx2 = (saved & kYmmRegisters) == kYmmRegisters && (b & bit_AVX2) != 0;
  features.avx512 =
      (saved & kZmmRegisters) == kZmmRegisters && (b & bit_AVX512F) != 0 && (b & bit_AVX512DQ) != 0;
  return features;
}

#else

CpuFeatures read_features() { return {}; }

#endif

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures kFeatures = read_features();
  return kFeatures;
}

}  // namespace bloom
