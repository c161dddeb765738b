#include "core/operations/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bloom {

void HyperLogLog::add(Hash hash) {
  std::uint8_t& longest = longest_[static_cast<std::size_t>(hash.h1 >> (64 - kIndexBits))];
  longest = std::max(longest, static_cast<std::uint8_t>(std::countl_zero(hash.h2) + 1));
}

double HyperLogLog::estimate() const {
  constexpr auto kSize = static_cast<double>(kRegisters);
  constexpr double kBias = 0.7213 / (1 + 1.079 / kSize);
  double sum = 0;
  for (const std::uint8_t longest : longest_) {
    sum += std::ldexp(1.0, -longest);
  }
  const double raw = kBias * kSize * kSize / sum;
  const auto unused = static_cast<double>(std::count(longest_.begin(), longest_.end(), 0));
  // For few keys, the number of registers still at 0 gives a better estimate (linear counting).
  return raw <= 2.5 * kSize && unused > 0 ? kSize * std::log(kSize / unused) : raw;
}

}  // namespace bloom
