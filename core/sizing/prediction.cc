#include "core/sizing/prediction.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/sizing/bisect.h"
#include "core/sizing/formulas.h"

namespace bloom {
namespace {

// Returns how many of 1..b have no common divisor with b.
double totient(std::uint32_t b) {
  double count = b;
  for (std::uint32_t prime = 2; prime <= b; ++prime) {
    if (b % prime == 0) {
      count -= count / prime;
    }
    while (b % prime == 0) {
      b /= prime;
    }
  }
  return count;
}

// With double hashing, position i of a key is u + i v on a circle of length 1, scaled to the m
// cells. The next two functions return what this adds to fill^k.
//
// If v is near a fraction a / b, the positions are b runs of neighbouring cells, so that the key
// has fewer than k different cells. For v = a / b + t / (b m), two neighbours in a run are
// different cells with probability t, and the mean over t is a geometric sum. There are totient(b)
// such fractions, and t has two signs. The factor is fitted to measurements: the keys that were
// added also form runs.
double excess_of_repeated_cells(double cells, std::uint32_t hashes, double fill) {
  constexpr double kNegligible = 1e-6;
  constexpr double kAddedRuns = 3;
  const double k = hashes;
  const double all = std::pow(fill, k);
  double sum = 0;
  for (std::uint32_t b = 1; b < hashes; ++b) {
    const double runs = b;
    const double power = std::pow(fill, runs);
    const double mean = runs * power * (1 - power * fill) * (1 - std::pow(fill, k - runs)) /
                        ((runs + 1) * (1 - fill) * (k - runs) * (1 - power));
    sum += totient(b) / runs * (mean - all);
    if (mean < kNegligible * sum) {
      break;
    }
  }
  return 2 / cells * sum * (1 + kAddedRuns * k / cells);
}

// The positions of a partitioned filter are in k different slices, so no cell is repeated. But a
// key whose u and v are near those of an added key has the same cells. The first term integrates
// the probability over the differences of u and v. The second is for keys whose positions all lie
// at the same place within their cells. Fitted to measurements for k up to 50.
double excess_of_near_keys(double slice, double k, double fill, double n) {
  if (k < 3) {
    return 0;
  }
  constexpr double kArea = 28.57;  // of exp(-|A + E x|), integrated over x, A and E
  const double generic = kArea / ((1 - fill) * (1 - fill) * k * k * k) * (1 - 1 / std::sqrt(k));
  const double in_step = std::max(0.0, 1 - 6 / k) / (k * k);
  return n / (slice * slice) * (generic + in_step);
}

// Returns the false-positive rate of n keys in one block, corrected for the variance of its fill.
// The classic formula raises the mean of the fill f to the power k. But f varies, so the mean of
// f^k is larger: by k (k - 1) / 2 times the relative variance of f. For 512 cells and k = 13 this
// is 5 %. The slices of a partitioned filter fill independently, so the product of their fills
// needs no correction. An unblocked filter also has the excess of double hashing.
double block_fpr(const Shape& shape, double n) {
  const double fpr = classic_fpr_of_block(shape, n);
  if (n == 0) {
    return fpr;
  }
  const double k = shape.hashes;
  const auto cells = static_cast<double>(shape.probe_range());
  const bool is_partitioned = shape.kind == Kind::partitioned;
  const double load = (is_partitioned ? n : k * n) / cells;
  const double fill = -std::expm1(-load);
  const double variance = std::exp(-load) * (fill - load * std::exp(-load)) / cells;
  const double spread = is_partitioned ? 0 : k * (k - 1) / 2 * variance / (fill * fill);
  return std::min(1.0, fpr * (1 + spread) + double_hashing_excess(shape, fill, n));
}

// With this many keys per block, their spread changes the mean FPR by less than 0.1 %.
constexpr std::uint64_t kMany = 1'000'000;

// Returns the mean of f(j) over j = 0..last, where weight(j) / weight(j - 1) = ratio(j) and `mode`
// has the largest weight. The sum runs from the mode outwards, in both directions, until the terms
// are negligible.
//
// f is slow. The weights are nearly those of a normal distribution with a variance between mode / 2
// and the mode. So terms whose distance is at most a third of the standard deviation give the same
// mean: the error of the trapezoidal rule is about exp(-2 (pi * 3)^2) for smooth functions.
template <typename Ratio, typename F>
double weighted_mean(std::uint64_t mode, std::uint64_t last, Ratio ratio, F f) {
  constexpr double kNegligible = 1e-17;
  const auto stride = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(mode)) / 5));
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
  for (std::uint64_t j = mode; last - j >= stride;) {
    for (const std::uint64_t end = j + stride; j < end;) {
      weight *= ratio(++j);
    }
    if (!add(weight, j)) {
      break;
    }
  }
  weight = 1;
  for (std::uint64_t j = mode; j >= stride;) {
    for (const std::uint64_t end = j - stride; j > end; --j) {
      weight /= ratio(j);
    }
    if (!add(weight, j)) {
      break;
    }
  }
  return sum / weights;
}

// Returns the mean FPR of the blocks of a filter with n keys: the number of keys in a block is
// binomially distributed.
double mean_fpr(const Shape& shape, std::uint64_t n) {
  const std::uint64_t blocks = shape.blocks();
  const std::uint64_t mode = (n + 1) / blocks;
  const auto fpr = [&](std::uint64_t j) { return block_fpr(shape, static_cast<double>(j)); };
  if (mode >= kMany) {
    return fpr(mode);
  }
  const double odds = 1 / static_cast<double>(blocks - 1);
  const auto ratio = [&](std::uint64_t j) {
    return static_cast<double>(n - j + 1) / static_cast<double>(j) * odds;
  };
  return weighted_mean(mode, n, ratio, fpr);
}

}  // namespace

double double_hashing_excess(const Shape& shape, double fill, double n) {
  constexpr double kNearlyFull = 1 - 1e-6;
  if (shape.block != 0 || fill <= 0 || fill > kNearlyFull) {
    return 0;
  }
  const auto range = static_cast<double>(shape.probe_range());
  return shape.kind == Kind::partitioned ? excess_of_near_keys(range, shape.hashes, fill, n)
                                         : excess_of_repeated_cells(range, shape.hashes, fill);
}

double predicted_fpr(const Shape& shape, std::uint64_t n) {
  assert(!broken_rule(shape));
  return shape.blocks() == 1 ? block_fpr(shape, static_cast<double>(n)) : mean_fpr(shape, n);
}

double predicted_fpr_of_many_blocks(const Shape& block, double mean) {
  assert(block.blocks() == 1);
  if (mean >= static_cast<double>(kMany)) {
    return block_fpr(block, mean);
  }
  return weighted_mean(
      static_cast<std::uint64_t>(mean), kMaxKeys,
      [&](std::uint64_t j) { return mean / static_cast<double>(j); },
      [&](std::uint64_t j) { return block_fpr(block, static_cast<double>(j)); });
}

std::uint64_t largest_capacity(const Shape& shape, double p) {
  assert(0 < p && p < 1);
  const auto too_many = [&](std::uint64_t n) { return predicted_fpr(shape, n) > p; };
  return std::max<std::uint64_t>(1, first_good(1, kMaxKeys + 1, too_many) - 1);
}

}  // namespace bloom
