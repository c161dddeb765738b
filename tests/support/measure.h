// Measures the false-positive rate of filters, and its standard deviation.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/filter/filter.h"
#include "tests/support/keys.h"

namespace bloom::test {

struct Measured {
  double rate = 0;
  double sigma = 0;  // standard deviation of `rate` if `predicted` is true
  double hit = 0;    // what one hit adds to `rate`; with few hits, `sigma` is too small
};

// Builds filters of n keys, each with other keys, until they have `cells` cells in total. Then
// looks up `probes` keys that were not added, spread evenly over the filters.
//
// `predicted` is used for sigma only. The count of hits is binomial. The fill of a filter has a
// standard deviation of about sqrt(e^-x (1 - (1 + x) e^-x) / m) with x = kn/m, and a change of the
// fill by d changes the FPR by FPR * k / fill * d.
inline Measured measure_rate(const Header& header, std::uint64_t n, std::uint64_t cells,
                             std::uint64_t probes, double predicted) {
  const Shape& shape = header.shape;
  const std::uint64_t filters = 1 + cells / shape.cells;
  const std::uint64_t probes_each = 1 + probes / filters;
  std::uint64_t next = 0;
  std::uint64_t hits = 0;
  for (std::uint64_t f = 0; f < filters; ++f) {
    Filter filter(header);
    for (std::uint64_t i = 0; i < n; ++i) {
      filter.add(key_hash(next++, shape.seed));
    }
    for (std::uint64_t i = 0; i < probes_each; ++i) {
      hits += filter.may_contain(key_hash(next++, shape.seed)) ? 1 : 0;
    }
  }
  const auto lookups = static_cast<double>(filters * probes_each);
  const double k = shape.hashes;
  const auto m = static_cast<double>(shape.cells);
  const double x = k * static_cast<double>(n) / m;
  const double fill = -std::expm1(-x);
  const double fill_variance =
      std::exp(-x) * (1 - (1 + x) * std::exp(-x)) / (m * static_cast<double>(filters));
  const double by_fill = predicted * k / fill * std::sqrt(fill_variance);
  const double by_lookups = std::sqrt(predicted * (1 - predicted) / lookups);
  return {static_cast<double>(hits) / lookups, std::hypot(by_fill, by_lookups), 1 / lookups};
}

}  // namespace bloom::test
