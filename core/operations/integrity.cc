#include "core/operations/integrity.h"

#include "core/layout/cells.h"
#include "core/layout/shape.h"

namespace bloom {

void CounterSumCheck::add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters) {
  for_each_part(first, count, shape_.block_cells(), [&](auto block, auto i, auto n) {
    if (block != block_) {
      end_block();
      block_ = block;
    }
    sum_ += sum_counters(counters, i - first, n);
    saturated_ += count_saturated(counters, i - first, n);
  });
}

std::optional<std::uint64_t> CounterSumCheck::finish() {
  end_block();
  return damaged_block_;
}

void CounterSumCheck::end_block() {
  if (!damaged_block_ && saturated_ == 0 && sum_ % shape_.hashes != 0) {
    damaged_block_ = block_;
  }
  sum_ = 0;
  saturated_ = 0;
}

}  // namespace bloom
