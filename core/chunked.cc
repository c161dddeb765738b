#include "core/chunked.h"

#include <algorithm>

namespace bloom {

std::uint64_t blocks_in_a_chunk(const Shape& shape) {
  if (chunk_count(shape) == 1) {
    return shape.blocks();
  }
  const std::uint64_t per_chunk = chunk_cells(shape.kind);
  return per_chunk % shape.block_cells() == 0 ? per_chunk / shape.block_cells() : 0;
}

bool fold_chunk(const Shape& shape, std::uint64_t i, const ChunkReader& read, std::uint8_t* to) {
  const std::uint64_t per_chunk = chunk_cells(shape.kind);
  const std::uint64_t begin = i * per_chunk;
  const std::uint64_t end = std::min(begin + per_chunk, halved(shape).cells);
  const std::uint64_t cells_to_one = fold_of(shape) == Fold::cells ? 2 : 1;
  bool any = false;
  for_each_fold_run(shape, begin, end, [&](const FoldRun& run) {
    for_each_part(run.first, run.count, per_chunk, [&](auto chunk, auto first, auto count) {
      if (const std::uint8_t* cells = read(chunk)) {
        const std::uint64_t target = run.to - begin + (first - run.first) / cells_to_one;
        halve_run(shape, to, target, cells, first % per_chunk, count);
        any = true;
      }
    });
  });
  return any;
}

void CounterTotals::add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters) {
  for_each_part(first, count, shape_.block_cells(), [&](auto block, auto i, auto n) {
    if (block != block_) {
      end_block();
      block_ = block;
    }
    sum_ += sum_counters(counters, i - first, n);
    saturated_ += count_saturated(counters, i - first, n);
  });
}

std::optional<std::uint64_t> CounterTotals::finish() {
  end_block();
  return wrong_;
}

void CounterTotals::end_block() {
  if (!wrong_ && saturated_ == 0 && sum_ % shape_.hashes != 0) {
    wrong_ = block_;
  }
  sum_ = 0;
  saturated_ = 0;
}

}  // namespace bloom
