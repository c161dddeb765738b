#include "core/sizing/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "core/hashing/key.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/shape.h"
#include "core/support/error.h"

namespace bloom {
namespace {

constexpr double kLn2 = std::numbers::ln2;

// A block of one chunk can be halved 10 times (bits) or 8 times (counters). A smaller block has a
// multiple of this many cells, per slice if partitioned, so that it can be halved 4 times.
constexpr std::uint64_t kUnit = 16;
// Powers of two up to this one divide a chunk of 31,744 cells into slices that can be halved 4
// times.
constexpr std::uint32_t kMaxSlices = 64;

void require_keys(std::string_view name, std::uint64_t n) {
  if (n < 1 || n > kMaxKeys) {
    refuse(name, "between 1 and " + std::to_string(kMaxKeys), std::to_string(n));
  }
}

void require_fpr(std::string_view name, double p) {
  if (!(p > 0 && p < 1)) {
    refuse(name, "between 0 and 1", NumberText(p).view());
  }
}

// Returns the expected share of non-zero cells after `insertions` random insertions into `cells`
// cells.
double fill_after(double insertions, double cells) {
  return cells > 1 ? -std::expm1(insertions * std::log1p(-1 / cells)) : (insertions > 0 ? 1 : 0);
}

// Returns the false-positive rate of n keys in one block by the classic formula.
double classic_fpr(const Shape& shape, double n) {
  const double k = shape.hashes;
  const double insertions = shape.kind == Kind::partitioned ? n : k * n;
  return std::pow(fill_after(insertions, static_cast<double>(shape.probe_range())), k);
}

// Returns the false-positive rate of n keys in one block, corrected for the variance of its fill.
// The classic formula raises the mean of the fill f to the power k. But f varies, so the mean of
// f^k is larger: by k (k - 1) / 2 times the relative variance of f. For 512 cells and k = 13 this
// is 5 %. The slices of a partitioned filter fill independently, so the product of their fills
// needs no correction.
double block_fpr(const Shape& shape, double n) {
  const double fpr = classic_fpr(shape, n);
  if (shape.kind == Kind::partitioned || n == 0) {
    return fpr;
  }
  const double k = shape.hashes;
  const auto cells = static_cast<double>(shape.probe_range());
  const double load = k * n / cells;
  const double fill = -std::expm1(-load);
  const double variance = std::exp(-load) * (fill - load * std::exp(-load)) / cells;
  return std::min(1.0, fpr * (1 + k * (k - 1) / 2 * variance / (fill * fill)));
}

// Returns the mean of f(j) over j ~ Binomial(n, 1 / blocks). Weights are relative to that of the
// mode. The sum runs from the mode outwards, in both directions, until the terms are negligible.
template <typename F>
double mean_over_blocks(std::uint64_t n, std::uint64_t blocks, F f) {
  constexpr double kNegligible = 1e-17;
  const double odds = 1 / static_cast<double>(blocks - 1);
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  // With this many keys per block, their spread changes the mean by less than 0.1 %.
  constexpr std::uint64_t kMany = 1'000'000;
  const std::uint64_t mode = (n + 1) / blocks;
  if (mode >= kMany) {
    return f(mode);
  }
  double sum = f(mode);
  double weights = 1;
  // Returns whether the term was significant. If f is tiny, f can grow faster than the weight
  // falls.
  const auto add = [&](double weight, std::uint64_t j) {
    const double term = weight * f(j);
    weights += weight;
    sum += term;
    return weight > kNegligible || term > kNegligible * sum;
  };
  double weight = 1;
  for (std::uint64_t j = mode + 1; j <= n; ++j) {
    weight *= ratio(n - j + 1, j) * odds;
    if (!add(weight, j)) {
      break;
    }
  }
  weight = 1;
  for (std::uint64_t j = mode; j > 0; --j) {
    weight *= ratio(j, n - j + 1) / odds;
    if (!add(weight, j - 1)) {
      break;
    }
  }
  return sum / weights;
}

// Returns the smallest x in low..high for which good(x) is true, or `high` if there is none below
// it. Requires: once good(x) is true, it stays true for all larger x.
template <typename Good>
std::uint64_t first_good(std::uint64_t low, std::uint64_t high, Good good) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (good(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

Shape one_block(Kind kind, std::uint32_t k, std::uint64_t cells) {
  return {.kind = kind, .hashes = k, .cells = cells, .block = cells, .seed = 0};
}

// Returns the unit in which the cells of an unblocked or single-block filter are allocated. A
// multiple of this unit can be halved 4 times.
std::uint64_t unit_of(Kind kind, std::uint32_t k) {
  return kind == Kind::partitioned ? kUnit * k : kUnit;
}

// Returns the smallest of shape_of(1), shape_of(2), ... whose predicted FPR is at most p. Throws
// bloom::Error if it would need more than kMaxCells cells. Requires: shape_of(i) has i times the
// cells of shape_of(1).
template <typename ShapeOf>
Shape smallest_of(ShapeOf shape_of, std::uint64_t n, double p) {
  const auto good = [&](std::uint64_t size) { return predicted_fpr(shape_of(size), n) <= p; };
  const Shape unit = shape_of(1);
  const double k = unit.hashes;
  // The search starts from the classic formula for this k, which is always close.
  const double classic = k * static_cast<double>(n) / -std::log1p(-std::pow(p, 1.0 / k));
  const std::uint64_t most = kMaxCells / unit.cells;
  const double about =
      std::min(0.98 * classic / static_cast<double>(unit.cells), static_cast<double>(most));
  std::uint64_t low = std::max<std::uint64_t>(static_cast<std::uint64_t>(about), 1);
  std::uint64_t high = low;
  while (high < most && !good(high)) {
    low = high;
    high = std::min(most, high + high / 16 + 1);
  }
  if (high == most && !good(most)) {
    refuse("capacity and fpr",
           "such that the filter has at most " + std::to_string(kMaxCells) + " cells",
           "capacity " + std::to_string(n) + " and fpr " + std::string(NumberText(p).view()));
  }
  return shape_of(first_good(low, high, good));
}

// Returns the smallest shape with k hashes and blocks of `block` cells (0: unblocked) whose
// predicted FPR is at most p.
Shape smallest_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k, std::uint64_t block) {
  const auto shape_of = [&](std::uint64_t size) {
    const std::uint64_t unit = block == 0 ? unit_of(kind, k) : block;
    return Shape{.kind = kind, .hashes = k, .cells = size * unit, .block = block, .seed = 0};
  };
  require_valid(shape_of(1));
  return smallest_of(shape_of, n, p);
}

// The same with blocks of one chunk, or with a single smaller block.
Shape smallest_shape(std::uint64_t n, double p, Kind kind, std::uint32_t k) {
  const auto good = [&](std::uint64_t cells) {
    return predicted_fpr(one_block(kind, k, cells), n) <= p;
  };
  const std::uint64_t chunk = cells_per_chunk(kind);
  if (!good(chunk)) {
    return smallest_shape(n, p, kind, k, chunk);
  }
  const std::uint64_t unit = unit_of(kind, k);
  const std::uint64_t units =
      first_good(1, chunk / unit, [&](std::uint64_t u) { return good(u * unit); });
  return one_block(kind, k, units * unit);
}

// Returns smallest(k) for the best k. A partitioned filter gets a power of two instead, because
// powers of two divide a chunk into equal slices. The function then tries the powers of two next to
// the best k and returns the smaller shape.
template <typename Smallest>
Shape with_best_hashes(double p, Kind kind, Smallest smallest) {
  const double best = std::clamp<double>(std::round(-std::log2(p)), 1, kMaxHashes);
  const auto k = static_cast<std::uint32_t>(best);
  if (kind != Kind::partitioned) {
    return smallest(k);
  }
  const std::uint32_t below = std::clamp(std::bit_floor(k), 1U, kMaxSlices);
  const std::uint32_t above = std::clamp(std::bit_ceil(k), 1U, kMaxSlices);
  const Shape few = smallest(below);
  const Shape many = below == above ? few : smallest(above);
  return few.cells <= many.cells ? few : many;
}

}  // namespace

std::uint64_t bits_for(std::uint64_t n, double p) {
  require_keys("n", n);
  require_fpr("p", p);
  return static_cast<std::uint64_t>(
      std::ceil(-static_cast<double>(n) * std::log(p) / (kLn2 * kLn2)));
}

std::uint32_t hashes_for(std::uint64_t m, std::uint64_t n) {
  require_valid({.kind = Kind::standard, .hashes = 1, .cells = m, .block = 0, .seed = 0});
  require_keys("n", n);
  const double best = static_cast<double>(m) / static_cast<double>(n) * kLn2;
  return static_cast<std::uint32_t>(std::clamp<double>(std::round(best), 1, kMaxHashes));
}

double fpr_for(std::uint64_t m, std::uint64_t n, std::uint32_t k, Kind kind) {
  const Shape shape{.kind = kind, .hashes = k, .cells = m, .block = 0, .seed = 0};
  require_valid(shape);
  return classic_fpr(shape, static_cast<double>(n));
}

std::uint64_t capacity_for(std::uint64_t m, std::uint32_t k, double p) {
  require_valid({.kind = Kind::standard, .hashes = k, .cells = m, .block = 0, .seed = 0});
  require_fpr("p", p);
  const auto too_many = [&](std::uint64_t n) { return fpr_for(m, n, k) > p; };
  return first_good(1, kMaxKeys + 1, too_many) - 1;
}

double predicted_fpr(const Shape& shape, std::uint64_t n) {
  const auto fpr_of_block = [&](std::uint64_t keys) {
    return block_fpr(shape, static_cast<double>(keys));
  };
  return shape.blocks() == 1 ? fpr_of_block(n) : mean_over_blocks(n, shape.blocks(), fpr_of_block);
}

std::uint64_t largest_capacity(const Shape& shape, double p) {
  const auto too_many = [&](std::uint64_t n) { return predicted_fpr(shape, n) > p; };
  return std::max<std::uint64_t>(1, first_good(1, kMaxKeys + 1, too_many) - 1);
}

Header size_filter(std::uint64_t n, double p, Kind kind) {
  require_keys("capacity", n);
  require_fpr("fpr", p);
  const Shape shape =
      with_best_hashes(p, kind, [&](std::uint32_t k) { return smallest_shape(n, p, kind, k); });
  return {.shape = shape, .capacity = n, .fpr = p};
}

Header size_filter(std::uint64_t n, double p, Kind kind, std::uint64_t block) {
  require_keys("capacity", n);
  require_fpr("fpr", p);
  const Shape shape = with_best_hashes(
      p, kind, [&](std::uint32_t k) { return smallest_shape(n, p, kind, k, block); });
  return {.shape = shape, .capacity = n, .fpr = p};
}

}  // namespace bloom
