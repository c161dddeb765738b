#include "core/filter/array_filter.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/filter/block512.h"
#include "core/filter/key_cells.h"
#include "core/layout/cells.h"
#include "core/layout/format.h"
#include "core/layout/shape.h"
#include "core/support/memory.h"

namespace bloom {
namespace {

// Enough keys for their cache misses to overlap. Few enough for the prefetched cache lines to stay
// in the L1 cache until they are used.
constexpr std::size_t kKeysAtOnce = 32;
constexpr std::size_t kCellsAtOnce = kKeysAtOnce * 16;
static_assert(kMaxHashes <= kCellsAtOnce);

// From this size on, the cells do not stay in the fast caches. It then pays to compute and prefetch
// the cells of many keys before testing the first one (bench/core.cc).
constexpr std::uint64_t kMinPrefetchBytes = std::uint64_t{1} << 20;

// Replays positions that were computed before. Has the interface of a probe sequence.
class PrecomputedSequence {
 public:
  explicit PrecomputedSequence(const std::uint64_t* cells) : next_(cells) {}
  std::uint64_t next() { return *next_++; }

 private:
  const std::uint64_t* next_;
};

// The functions of a kernel for cells in one array. If `prefetches` is true, the functions for
// many keys compute and prefetch the cells of a batch of keys first.
template <typename Cell, typename Step, typename Slices, bool prefetches>
struct ArrayKernel {
  using Sequence = ProbeSequence<Step, Slices>;

  static bool may_contain(const Geometry& geometry, Hash hash, const std::uint8_t* cells,
                          std::uint64_t first) {
    return may_contain_key_by_fours(geometry.hashes(), Sequence(geometry, hash),
                                    CellsFrom<Cell, const std::uint8_t>(cells, first));
  }

  // NOLINTBEGIN(readability-non-const-parameter): whether it is changed depends on Cell
  static bool add(const Geometry& geometry, Hash hash, std::uint8_t* cells, std::uint64_t first) {
    return insert_key(geometry.hashes(), Sequence(geometry, hash),
                      CellsFrom<Cell, std::uint8_t>(cells, first));
  }

  static bool remove(const Geometry& geometry, Hash hash, std::uint8_t* cells,
                     std::uint64_t first) {
    return remove_key(geometry.hashes(), Sequence(geometry, hash),
                      CellsFrom<Cell, std::uint8_t>(cells, first));
  }
  // NOLINTEND(readability-non-const-parameter)

  static void may_contain_batch(const Geometry& geometry, Kernel::Hashes hashes,
                                const std::uint8_t* cells, std::uint8_t* out) {
    for_each_key(geometry, hashes, cells, [&](std::size_t i, auto sequence, auto key_cells) {
      out[i] = may_contain_key_by_fours(geometry.hashes(), sequence, key_cells) ? 1 : 0;
    });
  }

  static void add_batch(const Geometry& geometry, Kernel::Hashes hashes, std::uint8_t* cells) {
    for_each_key(geometry, hashes, cells, [&](std::size_t, auto sequence, auto key_cells) {
      insert_key(geometry.hashes(), sequence, key_cells);
    });
  }

 private:
  // Calls f(i, probe sequence, cells) for each key i.
  template <typename Byte, typename F>
  static void for_each_key(const Geometry& geometry, Kernel::Hashes hashes, Byte* cells, F&& f) {
    using Cells = CellsFrom<Cell, Byte>;
    if constexpr (!prefetches) {
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        f(i, Sequence(geometry, hashes[i]), Cells(cells, geometry.first_cell(hashes[i])));
      }
      return;
    }
    const std::uint32_t k = geometry.hashes();
    const std::size_t at_once = std::clamp<std::size_t>(kCellsAtOnce / k, 1, kKeysAtOnce);
    std::array<std::uint64_t, kCellsAtOnce> positions;
    for (std::size_t begin = 0; begin < hashes.size(); begin += at_once) {
      const std::size_t end = std::min(begin + at_once, hashes.size());
      std::uint64_t* to = positions.data();
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t first = geometry.first_cell(hashes[i]);
        Sequence sequence(geometry, hashes[i]);
        for (std::uint32_t h = 0; h < k; ++h) {
          *to = first + sequence.next();
          prefetch(cells + *to++ / Cell::kPerByte);
        }
      }
      for (std::size_t i = begin; i < end; ++i) {
        f(i, PrecomputedSequence(&positions[(i - begin) * k]), Cells(cells, 0));
      }
    }
  }
};

template <typename Cell, typename Step, typename Slices, bool prefetches>
constexpr Kernel make_kernel() {
  using Functions = ArrayKernel<Cell, Step, Slices, prefetches>;
  Kernel kernel{Functions::may_contain, Functions::add, nullptr, Functions::may_contain_batch,
                Functions::add_batch};
  if constexpr (std::is_same_v<Cell, Counters>) {
    kernel.remove = Functions::remove;
  }
  return kernel;
}

template <typename Cell, typename Step, typename Slices>
const Kernel* kernel_of_size(std::uint64_t bytes) {
  static constexpr Kernel kDirect = make_kernel<Cell, Step, Slices, false>();
  static constexpr Kernel kPrefetching = make_kernel<Cell, Step, Slices, true>();
  return bytes < kMinPrefetchBytes ? &kDirect : &kPrefetching;
}

template <typename Cell>
const Kernel* kernel_of_cells(const Shape& shape, const Geometry& geometry) {
  const std::uint64_t bytes = cell_bytes(shape);
  return geometry.with_policies([&](auto step, auto slices) {
    return kernel_of_size<Cell, decltype(step), decltype(slices)>(bytes);
  });
}

const Kernel* best_kernel(const Shape& shape, const Geometry& geometry) {
  if (shape.kind == Kind::counting) {
    return kernel_of_cells<Counters>(shape, geometry);
  }
  if (shape.kind == Kind::standard && shape.block == kBlock512Cells) {
    return &block512_kernel().kernel;
  }
  return shape.block_cells() % 32 == 0 ? kernel_of_cells<WordBits>(shape, geometry)
                                       : kernel_of_cells<Bits>(shape, geometry);
}

}  // namespace

ArrayFilter::ArrayFilter(const Shape& shape)
    : geometry_(shape), kernel_(best_kernel(shape, geometry_)) {}

}  // namespace bloom
