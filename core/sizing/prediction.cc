#include "core/sizing/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/sizing/bisect.h"
#include "core/sizing/formulas.h"

namespace bloom {
namespace {

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

// With this many keys per block, their spread changes the mean FPR by less than 0.1 %.
constexpr std::uint64_t kMany = 1'000'000;

// Returns the mean of f(j) over j = 0..last, where weight(j) / weight(j - 1) = ratio(j) and `mode`
// has the largest weight. The sum runs from the mode outwards, in both directions, until the terms
// are negligible.
template <typename Ratio, typename F>
double weighted_mean(std::uint64_t mode, std::uint64_t last, Ratio ratio, F f) {
  constexpr double kNegligible = 1e-17;
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
  for (std::uint64_t j = mode + 1; j <= last; ++j) {
    weight *= ratio(j);
    if (!add(weight, j)) {
      break;
    }
  }
  weight = 1;
  for (std::uint64_t j = mode; j > 0; --j) {
    weight /= ratio(j);
    if (!add(weight, j - 1)) {
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

double predicted_fpr(const Shape& shape, std::uint64_t n) {
  return shape.blocks() == 1 ? block_fpr(shape, static_cast<double>(n)) : mean_fpr(shape, n);
}

double predicted_fpr_of_many_blocks(const Shape& block, double mean) {
  if (mean >= static_cast<double>(kMany)) {
    return block_fpr(block, mean);
  }
  return weighted_mean(
      static_cast<std::uint64_t>(mean), kMaxKeys,
      [&](std::uint64_t j) { return mean / static_cast<double>(j); },
      [&](std::uint64_t j) { return block_fpr(block, static_cast<double>(j)); });
}

std::uint64_t largest_capacity(const Shape& shape, double p) {
  const auto too_many = [&](std::uint64_t n) { return predicted_fpr(shape, n) > p; };
  return std::max<std::uint64_t>(1, first_good(1, kMaxKeys + 1, too_many) - 1);
}

}  // namespace bloom
