#include "core/line.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "core/cells.h"
#include "core/key_cells.h"

namespace bloom {
namespace {

using Walk = Geometry::Walk<false, false>;

bool ask_scalar(const Geometry& geometry, Hash hash, const std::uint8_t* cells,
                std::uint64_t first) {
  return may_contain_key_at_hand(geometry.hashes(), Walk(geometry, hash),
                                 CellsFrom<WordBits, const std::uint8_t>(cells, first));
}

bool add_scalar(const Geometry& geometry, Hash hash, std::uint8_t* cells, std::uint64_t first) {
  return add_key(geometry.hashes(), Walk(geometry, hash),
                 CellsFrom<WordBits, std::uint8_t>(cells, first));
}

void ask_all_scalar(const Geometry& geometry, Kernel::Hashes hashes, const std::uint8_t* cells,
                    std::uint8_t* out) {
  for_each_line(geometry, hashes, cells, [&](std::size_t i, const std::uint8_t* line) {
    out[i] = ask_scalar(geometry, hashes[i], line, 0) ? 1 : 0;
  });
}

void add_all_scalar(const Geometry& geometry, Kernel::Hashes hashes, std::uint8_t* cells) {
  for_each_line(geometry, hashes, cells, [&](std::size_t i, std::uint8_t* line) {
    add_scalar(geometry, hashes[i], line, 0);
  });
}

LineKernels kernels_here() {
  const Kernel scalar{ask_scalar, add_scalar, nullptr, ask_all_scalar, add_all_scalar};
  LineKernels kernels;
  kernels.add({"scalar", scalar});
  add_x86_line_kernels(kernels, scalar);
  return kernels;
}

const LineKernel& chosen_kernel() {
  const auto kernels = line_kernels();
  const char* const wanted = std::getenv("BLOOM_KERNEL");
  const auto named = std::find_if(kernels.begin(), kernels.end(), [&](const LineKernel& kernel) {
    return wanted != nullptr && kernel.name == wanted;
  });
  return named == kernels.end() ? kernels.back() : *named;
}

}  // namespace

std::span<const LineKernel> line_kernels() {
  static const LineKernels kernels = kernels_here();
  static_assert(std::is_trivially_destructible_v<LineKernels>);
  return std::span(kernels.all).first(kernels.count);
}

const LineKernel& line_kernel() {
  static const LineKernel& kernel = chosen_kernel();
  return kernel;
}

}  // namespace bloom
