#include "core/filter/block512.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "core/filter/key_cells.h"
#include "core/layout/cells.h"

namespace bloom {
namespace {

bool may_contain_scalar(const Geometry& geometry, Hash hash, const std::uint8_t* cells,
                        std::uint64_t first) {
  return may_contain_key_by_fours(geometry.hashes(), BlockSequence(geometry, hash),
                                  CellsFrom<WordBits, const std::uint8_t>(cells, first));
}

bool add_scalar(const Geometry& geometry, Hash hash, std::uint8_t* cells, std::uint64_t first) {
  return insert_key(geometry.hashes(), BlockSequence(geometry, hash),
                    CellsFrom<WordBits, std::uint8_t>(cells, first));
}

void may_contain_all_scalar(const Geometry& geometry, Kernel::Hashes hashes,
                            const std::uint8_t* cells, std::uint8_t* out) {
  for_each_block512(geometry, hashes, cells, [&](std::size_t i, const std::uint8_t* block) {
    out[i] = may_contain_scalar(geometry, hashes[i], block, 0) ? 1 : 0;
  });
}

void add_all_scalar(const Geometry& geometry, Kernel::Hashes hashes, std::uint8_t* cells) {
  for_each_block512(geometry, hashes, cells, [&](std::size_t i, std::uint8_t* block) {
    add_scalar(geometry, hashes[i], block, 0);
  });
}

Block512Kernels supported_kernels() {
  const Kernel scalar{may_contain_scalar, add_scalar, nullptr, may_contain_all_scalar,
                      add_all_scalar};
  Block512Kernels kernels;
  kernels.add({"scalar", scalar});
  add_x86_block512_kernels(kernels, scalar);
  return kernels;
}

const Block512Kernel& select_kernel() {
  const auto kernels = block512_kernels();
  const char* const wanted = std::getenv("BLOOM_KERNEL");
  const auto named = std::find_if(
      kernels.begin(), kernels.end(),
      [&](const Block512Kernel& kernel) { return wanted != nullptr && kernel.name == wanted; });
  return named == kernels.end() ? kernels.back() : *named;
}

}  // namespace

std::span<const Block512Kernel> block512_kernels() {
  static const Block512Kernels kernels = supported_kernels();
  static_assert(std::is_trivially_destructible_v<Block512Kernels>);
  return std::span(kernels.all).first(kernels.count);
}

const Block512Kernel& block512_kernel() {
  static const Block512Kernel& kernel = select_kernel();
  return kernel;
}

}  // namespace bloom
