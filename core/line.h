// Standard filters with block=512: all cells of a key lie in 64 bytes, a line of the processor's
// cache, which vector instructions can test at once. The positions are those of core/geometry.h;
// every kernel gives the same answers (tests/core/line_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/geometry.h"

namespace bloom {

inline constexpr std::uint64_t kLineCells = 512;
inline constexpr std::size_t kLineBytes = kLineCells / 8;

struct LineKernel {
  std::string_view name;
  // Asks the 64 bytes of the key's block for its k = `hashes` cells, which depend on h2 alone.
  bool (*may_contain)(const std::uint8_t* line, std::uint64_t h2, std::uint32_t hashes);
  // See Probe.
  void (*may_contain_all)(const Geometry& geometry, std::span<const Hash> hashes,
                          const std::uint8_t* cells, std::uint8_t* answers);
  void (*add_all)(const Geometry& geometry, std::span<const Hash> hashes, std::uint8_t* cells);
};

// Those that this processor can run; the best one last. The first, "scalar", runs anywhere.
std::span<const LineKernel> line_kernels();

// The best one, or the one that the environment variable BLOOM_KERNEL names when it is first asked
// for. Null for filters of other shapes.
const LineKernel* line_kernel_for(const Shape& shape);
const LineKernel& line_kernel();

// Asks for a line of memory that will be used soon.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace bloom
