#include "core/sizing/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "core/hashing/key.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/shape.h"
#include "core/sizing/bisect.h"
#include "core/sizing/formulas.h"
#include "core/sizing/prediction.h"
#include "core/support/error.h"

namespace bloom {
namespace {

// A block of one chunk can be halved 10 times (bits) or 8 times (counters). A smaller block has a
// multiple of this many cells, per slice if partitioned, so that it can be halved 4 times.
constexpr std::uint64_t kUnit = 16;
// Powers of two up to this one divide a chunk of 31,744 cells into slices that can be halved 4
// times.
constexpr std::uint32_t kMaxSlices = 64;

Shape one_block(Kind kind, std::uint32_t k, std::uint64_t cells) {
  return {.kind = kind, .hashes = k, .cells = cells, .block = cells, .seed = 0};
}

// Returns the unit in which the cells of an unblocked or single-block filter are allocated. A
// multiple of this unit can be halved 4 times.
std::uint64_t unit_of(Kind kind, std::uint32_t k) {
  return kind == Kind::partitioned ? kUnit * k : kUnit;
}

[[noreturn]] void refuse_size(std::uint64_t n, double p) {
  refuse("capacity and fpr",
         "such that the filter has at most " + std::to_string(kMaxCells) + " cells",
         "capacity " + std::to_string(n) + " and fpr " + std::string(NumberText(p).view()));
}

// Returns the keys that fill a block of k hashes to FPR p, by the classic formula.
double classic_keys(double cells, double k, double p) {
  return cells * -std::log1p(-std::pow(p, 1 / k)) / k;
}

// Returns the keys per block with which a filter of many blocks has an FPR of at most p, exact to
// 0.1 %; 0 if there is no such number.
double keys_per_block(const Shape& block, double p) {
  const auto good = [&](double mean) { return predicted_fpr_of_many_blocks(block, mean) <= p; };
  double high = classic_keys(static_cast<double>(block.cells), block.hashes, p);
  double low = 0.98 * high;
  while (!good(low) && low > std::numeric_limits<double>::min()) {
    high = low;
    low *= 0.9;
  }
  if (low <= std::numeric_limits<double>::min()) {
    return 0;  // smaller numbers have fewer digits
  }
  while (high - low > 0.001 * low) {
    const double middle = (low + high) / 2;
    (good(middle) ? low : high) = middle;
  }
  return low;
}

// Returns the smallest number of units whose sizes are aligned (see round_up_size()): 8 chunks
// (31 KiB), or 128 smaller units if that is less.
std::uint64_t min_aligned_units(std::uint64_t unit_cells, Kind kind) {
  constexpr std::uint64_t kChunks = 8;
  constexpr std::uint64_t kMaxUnits = 128;
  return std::clamp(kChunks * cells_per_chunk(kind) / unit_cells, kChunks, kMaxUnits);
}

// Rounds a size up to an aligned size: the size for 2n keys is twice the size for n keys, so
// filters whose capacities are a power of two apart can be merged. The step between two sizes
// therefore doubles with each doubling of the size. Whole chunks are rounded up by 5 % on average,
// units of 1/16 chunk or less by at most 0.8 %.
std::uint64_t round_up_size(std::uint64_t units, std::uint64_t min_aligned) {
  const std::uint64_t step = std::max<std::uint64_t>(1, std::bit_floor(units / min_aligned));
  return (units + step - 1) / step * step;
}

// The next three functions return nullopt if the filter would have more than kMaxCells cells.

// Returns the shape for n keys with k hashes and blocks of `block` cells.
std::optional<Shape> blocked_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k,
                                   std::uint64_t block) {
  Shape shape = one_block(kind, k, block);
  require_valid(shape);
  const std::uint64_t most = kMaxCells / block;
  const double limit = std::ceil(static_cast<double>(n) / keys_per_block(shape, p));
  if (limit > static_cast<double>(most)) {
    return std::nullopt;
  }
  const auto good = [&](std::uint64_t blocks) {
    shape.cells = blocks * block;
    return predicted_fpr(shape, n) <= p;
  };
  auto blocks = static_cast<std::uint64_t>(limit);
  const std::uint64_t min_aligned = min_aligned_units(block, kind);
  if (!good(blocks)) {
    // Happens only with blocks of a few cells: see predicted_fpr_of_many_blocks().
    blocks = first_good(blocks, most, good);
  } else if (blocks <= min_aligned) {
    blocks = first_good(1, blocks, good);
  }
  if (!good(blocks)) {
    return std::nullopt;
  }
  shape.cells = std::min(round_up_size(blocks, min_aligned), most) * block;
  return shape;
}

// Returns the unblocked shape for n keys with k hashes.
std::optional<Shape> unblocked_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k) {
  const std::uint64_t unit = unit_of(kind, k);
  const auto shape_of = [&](std::uint64_t units) {
    return Shape{.kind = kind, .hashes = k, .cells = units * unit, .block = 0, .seed = 0};
  };
  const auto good = [&](std::uint64_t units) { return predicted_fpr(shape_of(units), n) <= p; };
  const std::uint64_t most = kMaxCells / unit;
  if (!good(most)) {
    return std::nullopt;
  }
  return shape_of(
      std::min(round_up_size(first_good(1, most, good), min_aligned_units(unit, kind)), most));
}

// Returns the shape for n keys with k hashes and blocks of one chunk, or with a single smaller
// block.
std::optional<Shape> chunked_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k) {
  const std::uint64_t chunk = cells_per_chunk(kind);
  const std::uint64_t unit = unit_of(kind, k);
  const auto good = [&](std::uint64_t units) {
    return predicted_fpr(one_block(kind, k, units * unit), n) <= p;
  };
  const std::uint64_t most = chunk / unit;
  if (!good(most)) {
    return blocked_shape(n, p, kind, k, chunk);
  }
  return one_block(kind, k,
                   round_up_size(first_good(1, most, good), min_aligned_units(unit, kind)) * unit);
}

// The numbers of hashes to try: the best one. A partitioned filter gets a power of two instead,
// because powers of two divide a chunk into equal slices.
struct HashesToTry {
  std::uint32_t few;
  std::uint32_t many;
};
HashesToTry hashes_to_try(double p, Kind kind) {
  const double best = std::clamp<double>(std::round(-std::log2(p)), 1, kMaxHashes);
  const auto k = static_cast<std::uint32_t>(best);
  return kind != Kind::partitioned ? HashesToTry{k, k}
                                   : HashesToTry{std::clamp(std::bit_floor(k), 1U, kMaxSlices),
                                                 std::clamp(std::bit_ceil(k), 1U, kMaxSlices)};
}

// Returns the smallest shape with k hashes; nullopt if there is none.
std::optional<Shape> smallest_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k,
                                    std::optional<std::uint64_t> block) {
  if (!block) {
    return chunked_shape(n, p, kind, k);
  }
  if (*block == 0) {
    return unblocked_shape(n, p, kind, k);
  }
  return kind == Kind::partitioned && *block % k != 0 ? std::nullopt
                                                      : blocked_shape(n, p, kind, k, *block);
}

}  // namespace

std::optional<Header> find_size(std::uint64_t n, double p, Kind kind,
                                std::optional<std::uint64_t> block) {
  require_keys("capacity", n);
  require_fpr("fpr", p);
  const auto [few, many] = hashes_to_try(p, kind);
  auto shape = smallest_shape(n, p, kind, few, block);
  if (few != many) {
    const auto other = smallest_shape(n, p, kind, many, block);
    shape = other && !(shape && shape->cells <= other->cells) ? other : shape;
  }
  return shape ? std::optional(Header{.shape = *shape, .capacity = n, .fpr = p}) : std::nullopt;
}

Header size_filter(std::uint64_t n, double p, Kind kind, std::optional<std::uint64_t> block) {
  const auto header = find_size(n, p, kind, block);
  if (!header && block.value_or(0) != 0) {
    require_valid(one_block(kind, hashes_to_try(p, kind).few, *block));
  }
  if (!header) {
    refuse_size(n, p);
  }
  return *header;
}

}  // namespace bloom
