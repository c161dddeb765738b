#include "core/support/cpu.h"

#include <gtest/gtest.h>

#include "core/filter/block512.h"

namespace bloom {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32)

TEST(Cpu, FeaturesAreThoseThatTheCompilerFinds) {
  EXPECT_EQ(cpu_features().popcnt, __builtin_cpu_supports("popcnt") != 0);
  EXPECT_EQ(cpu_features().avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(cpu_features().avx512,
            __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0);
  EXPECT_EQ(block512_kernels().size(),
            1U + (cpu_features().avx2 ? 1 : 0) + (cpu_features().avx512 ? 1 : 0));
}

#endif

}  // namespace
}  // namespace bloom
