// Detects damaged counting filters in tables. Their chunks have no checksum, but the counters of a
// filter have an invariant that random damage usually breaks.
#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/shape.h"

namespace bloom {

// Checks the sums of the counters, which are given piece by piece in ascending order. Every key
// adds k to the sum of the counters of its block. So the sum is a multiple of k, unless a counter
// of the block is saturated. Requires: the filter is not the result of an intersection, and no such
// result was merged into it.
class CounterSumCheck {
 public:
  explicit CounterSumCheck(const Shape& shape) : shape_(shape) {}

  // Adds the counters first..first+count-1 of the filter, which are 0..count-1 of `counters`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters);
  // Returns the first block whose sum is not a multiple of k, or nullopt if there is none. Call
  // once, after the last add().
  std::optional<std::uint64_t> finish();

 private:
  void end_block();

  Shape shape_;
  std::uint64_t block_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t saturated_ = 0;
  std::optional<std::uint64_t> damaged_block_;
};

}  // namespace bloom
