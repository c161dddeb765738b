// The instruction sets of this processor. Only those that some function of the project uses.
//
// __builtin_cpu_supports() is not used: with some compiler runtimes it does not link into a shared
// library.
#pragma once

namespace bloom {

struct CpuFeatures {
  bool popcnt = false;
  bool avx2 = false;
  bool avx512 = false;  // F and DQ
};

// Returns the features that both the processor and the operating system support; none on processors
// other than x86-64. Reads them once.
const CpuFeatures& cpu_features();

}  // namespace bloom
