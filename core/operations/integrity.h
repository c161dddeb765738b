#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/shape.h"

namespace bloom {

// A check of counters that come piece by piece, in order: every key adds k to the counters of its
// block, so their sum is a multiple of k as long as none is stuck.
class CounterTotals {
 public:
  explicit CounterTotals(const Shape& shape) : shape_(shape) {}

  // Counters first..first+count-1 of the filter are counters 0..count-1 of `counters`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters);
  // The first block whose sum is no multiple of k.
  std::optional<std::uint64_t> finish();

 private:
  void end_block();

  Shape shape_;
  std::uint64_t block_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t saturated_ = 0;
  std::optional<std::uint64_t> wrong_;
};

}  // namespace bloom
