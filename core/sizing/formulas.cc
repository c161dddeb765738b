#include "core/sizing/formulas.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/hashing/key.h"
#include "core/sizing/bisect.h"
#include "core/support/error.h"

namespace bloom {
namespace {

constexpr double kLn2 = std::numbers::ln2;

// Returns the expected share of non-zero cells after `insertions` random insertions into `cells`
// cells.
double fill_after(double insertions, double cells) {
  return cells > 1 ? -std::expm1(insertions * std::log1p(-1 / cells)) : (insertions > 0 ? 1 : 0);
}

}  // namespace

void require_keys(std::string_view name, std::uint64_t n) {
  if (n < 1 || n > kMaxKeys) {
    refuse(name, "between 1 and " + std::to_string(kMaxKeys), std::to_string(n));
  }
}

void require_fpr(std::string_view name, double p) {
  if (!(p > 0 && p < 1)) {
    // A program in C++ can pass NaN, which has no NumberText.
    refuse(name, "between 0 and 1", std::isnan(p) ? "NaN" : NumberText(p).view());
  }
}

double classic_fpr_of_block(const Shape& shape, double n) {
  const double k = shape.hashes;
  const double insertions = shape.kind == Kind::partitioned ? n : k * n;
  return std::pow(fill_after(insertions, static_cast<double>(shape.probe_range())), k);
}

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
  return classic_fpr_of_block(shape, static_cast<double>(n));
}

std::uint64_t capacity_for(std::uint64_t m, std::uint32_t k, double p) {
  require_valid({.kind = Kind::standard, .hashes = k, .cells = m, .block = 0, .seed = 0});
  require_fpr("p", p);
  const auto too_many = [&](std::uint64_t n) { return fpr_for(m, n, k) > p; };
  return first_good(1, kMaxKeys + 1, too_many) - 1;
}

}  // namespace bloom
