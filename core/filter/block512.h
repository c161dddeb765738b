// Standard filters with block=512. All cells of a key lie in one block of 64 bytes, the size of a
// cache line, which vector instructions can test at once. The positions are those of
// core/layout/geometry.h, and every kernel returns the same results
// (tests/core/array_filter_test.cc).
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

// Returns the kernels that this processor can run, fastest last. The first, "scalar", runs on every
// processor.
std::span<const Block512Kernel> block512_kernels();

// Returns the fastest kernel, or the one named by the environment variable BLOOM_KERNEL. The choice
// is made at the first call.
const Block512Kernel& block512_kernel();

// A list of kernels. Must not need a destructor: a filter can be queried while the process exits.
struct Block512Kernels {
  std::array<Block512Kernel, 4> all;
  std::size_t count = 0;

  void add(const Block512Kernel& kernel) { all[count++] = kernel; }
};

// Adds the kernels for x86-64 that this processor can run. They vectorize lookups only and use
// `scalar` to add keys.
void add_x86_block512_kernels(Block512Kernels& kernels, const Kernel& scalar);

// For use in kernels: calls f(i, block of hashes[i]) for each key. Blocks are prefetched for a
// batch of keys before f is called for them. Forced inline, so that f can use the target
// instructions of its caller.
template <typename Byte, typename F>
[[gnu::always_inline]] inline void for_each_block512(const Geometry& geometry,
                                                     Kernel::Hashes hashes, Byte* cells, F&& f) {
  constexpr std::size_t kKeysAtOnce = 32;  // enough for their cache misses to overlap
  std::array<Byte*, kKeysAtOnce> blocks;
  for (std::size_t i = 0; i < hashes.size(); i += kKeysAtOnce) {
    const std::size_t count = std::min(kKeysAtOnce, hashes.size() - i);
    for (std::size_t j = 0; j < count; ++j) {
      blocks[j] = cells + geometry.block_of(hashes[i + j]) * kCacheLineBytes;
      prefetch(blocks[j]);
      prefetch(blocks[j] + kCacheLineBytes - 1);  // SQLite's blobs are not cache-line aligned
    }
    for (std::size_t j = 0; j < count; ++j) {
      f(i + j, blocks[j]);
    }
  }
}

}  // namespace bloom
