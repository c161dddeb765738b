// Standard filters with block=512: all cells of a key lie in 64 bytes, a line of the processor's
// cache, which vector instructions can test at once. The positions are those of core/geometry.h;
// every kernel gives the same answers (tests/core/line_test.cc).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/memory.h"
#include "core/probe.h"

namespace bloom {

inline constexpr std::uint64_t kLineCells = 8 * kLineBytes;

struct LineKernel {
  std::string_view name;
  Kernel kernel;
};

// Those that this processor can run; the best one last. The first, "scalar", runs anywhere.
std::span<const LineKernel> line_kernels();

// The best one, or the one that the environment variable BLOOM_KERNEL named when this was first
// called.
const LineKernel& line_kernel();

}  // namespace bloom
