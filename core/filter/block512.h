// Standard filters with block=512: all cells of a key lie in 64 bytes, a line of the processor's
// cache, which vector instructions can test at once. The positions are those of
// core/layout/geometry.h; every kernel gives the same answers (tests/core/probe_test.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/filter/kernel.h"
#include "core/support/memory.h"

namespace bloom {

inline constexpr std::uint64_t kBlock512Cells = 8 * kCacheLineBytes;

struct Block512Kernel {
  std::string_view name;
  Kernel kernel;
};

// Those that this processor can run; the best one last. The first, "scalar", runs anywhere.
std::span<const Block512Kernel> block512_kernels();

// The best one, or the one that the environment variable BLOOM_KERNEL named when this was first
// called.
const Block512Kernel& block512_kernel();

// Needs no destructor: filters may be asked while a program ends.
struct Block512Kernels {
  std::array<Block512Kernel, 4> all;
  std::size_t count = 0;

  void add(const Block512Kernel& kernel) { all[count++] = kernel; }
};

// Adds those for x86-64; adding keys is left to the scalar one.
void add_x86_block512_kernels(Block512Kernels& kernels, const Kernel& scalar);

// For kernels: calls f(i, line of hashes[i]) for each key, when the lines of those after it are on
// their way. Inlined, so that f may use the instructions of its caller.
template <typename Byte, typename F>
[[gnu::always_inline]] inline void for_each_block512(const Geometry& geometry,
                                                     Kernel::Hashes hashes, Byte* cells, F&& f) {
  constexpr std::size_t kKeysAtOnce = 32;  // enough for their cache misses to overlap
  std::array<Byte*, kKeysAtOnce> lines;
  for (std::size_t i = 0; i < hashes.size(); i += kKeysAtOnce) {
    const std::size_t count = std::min(kKeysAtOnce, hashes.size() - i);
    for (std::size_t j = 0; j < count; ++j) {
      lines[j] = cells + geometry.block_of(hashes[i + j]) * kCacheLineBytes;
      prefetch(lines[j]);
      prefetch(lines[j] + kCacheLineBytes - 1);  // blobs of SQLite start anywhere
    }
    for (std::size_t j = 0; j < count; ++j) {
      f(i + j, lines[j]);
    }
  }
}

}  // namespace bloom
