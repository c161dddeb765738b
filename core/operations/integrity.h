#pragma once

#include <cstdint>
#include <optional>

#include "core/layout/shape.h"

namespace bloom {

// Checks the counters of a filter, given piece by piece in ascending order. Every key adds k to the
// sum of the counters of its block. So the sum is a multiple of k, unless a counter of the block is
// saturated.
class CounterTotals {
 public:
  explicit CounterTotals(const Shape& shape) : shape_(shape) {}

  // Adds the counters first..first+count-1 of the filter, which are 0..count-1 of `counters`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters);
  // Returns the first block whose sum is not a multiple of k, or nullopt if there is none.
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
