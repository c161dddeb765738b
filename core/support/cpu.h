// Which of the instructions that some functions use this processor has. Read here, because
// __builtin_cpu_supports() does not link into a shared library with every compiler runtime.
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
