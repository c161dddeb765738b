// A filter in chunks, with one chunk in memory at a time, has the same cells as a filter of
// core/filter/filter.h.

#include "core/filter/chunked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "core/filter/filter.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/operations/estimate.h"
#include "core/operations/integrity.h"
#include "core/operations/merge.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"

namespace bloom::test {
namespace {

// The filters of small_shapes() have one chunk, or one block per chunk. This adds filters of
// several chunks, of each kind, with blocks and slices that span chunks.
std::vector<Shape> shapes() {
  std::vector<Shape> shapes = small_shapes();
  using enum Kind;
  const std::vector<Shape> more = {
      {.kind = standard, .hashes = 5, .cells = 100'000},
      {.kind = standard, .hashes = 5, .cells = 100'000, .block = 1000},
      {.kind = standard, .hashes = 3, .cells = 66'000, .block = 33, .seed = 1},
      {.kind = standard, .hashes = 4, .cells = 253'952, .block = 126'976},
      {.kind = standard, .hashes = 6, .cells = 65'536, .block = 512},
      {.kind = counting, .hashes = 3, .cells = 30'002, .block = 15'001},
      {.kind = counting, .hashes = 4, .cells = 40'000},
      {.kind = counting, .hashes = 7, .cells = 63'488, .block = 7936},
      {.kind = counting, .hashes = 2, .cells = 24'000, .block = 50},
      {.kind = partitioned, .hashes = 4, .cells = 100'000},
      {.kind = partitioned, .hashes = 5, .cells = 90'000, .block = 450},
      {.kind = partitioned, .hashes = 8, .cells = 126'976, .block = 31'744},
  };
  shapes.insert(shapes.end(), more.begin(), more.end());
  return shapes;
}

// Stores the changed chunks. Hands out a copy of one chunk, which is lost at the next at().
class SingleChunkCache {
 public:
  explicit SingleChunkCache(const Shape& shape) : shape_(shape) {}

  std::uint8_t* at(std::uint64_t i) {
    EXPECT_LT(i, chunk_count(shape_));
    if (i != number_) {
      put_away();
      number_ = i;
      changed_ = false;
      const auto found = chunks_.find(i);
      cached_ = found == chunks_.end() ? Cells{} : found->second;
      reads_.insert(i);
    }
    return cached_.data();
  }
  void mark_changed(std::uint64_t i) {
    EXPECT_EQ(i, number_);
    changed_ = true;
  }

  std::vector<std::uint8_t> all() {
    put_away();
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(cell_bytes(shape_)));
    for (const auto& [i, cells] : chunks_) {
      std::copy_n(cells.begin(), chunk_bytes(shape_, i), bytes.data() + i * kChunkBytes);
    }
    return bytes;
  }
  const std::uint8_t* read(std::uint64_t i) const {
    const auto found = chunks_.find(i);
    return found == chunks_.end() ? nullptr : found->second.data();
  }
  std::set<std::uint64_t> take_reads() { return std::exchange(reads_, {}); }

 private:
  using Cells = std::array<std::uint8_t, kChunkBytes>;

  void put_away() {
    if (number_ && changed_) {
      chunks_[*number_] = cached_;
    }
  }

  Shape shape_;
  std::map<std::uint64_t, Cells> chunks_;
  std::optional<std::uint64_t> number_;
  Cells cached_{};
  bool changed_ = false;
  std::set<std::uint64_t> reads_;
};

std::vector<std::uint8_t> cells_of(const Filter& filter) {
  return {filter.view().cells(), filter.view().cells() + cell_bytes(filter.shape())};
}

TEST(Chunked, HasTheAnswersAndCellsOfTheFilter) {
  std::mt19937_64 random(1);
  for (const Shape& shape : shapes()) {
    Filter whole({.shape = shape});
    const ChunkedFilter chunked(shape);
    SingleChunkCache chunks(shape);
    for (int step = 0; step < 2000; ++step) {
      const Hash hash = key_hash(random() % 300, shape.seed);
      if (shape.kind == Kind::counting && random() % 3 == 0) {
        EXPECT_EQ(chunked.remove(hash, chunks), whole.remove(hash)) << shape;
      } else if (random() % 2 == 0) {
        EXPECT_EQ(chunked.add(hash, chunks), whole.add(hash)) << shape;
      }
      const Hash other = key_hash(random() % 600, shape.seed);
      ASSERT_EQ(chunked.may_contain(other, chunks), whole.may_contain(other)) << shape;
    }
    EXPECT_EQ(chunks.all(), cells_of(whole)) << shape;
  }
}

TEST(Chunked, AKeyTouchesOneChunkIfABlockIsAChunk) {
  for (const Kind kind : kKinds) {
    const std::uint64_t block = cells_per_chunk(kind);
    const Shape shape{.kind = kind, .hashes = 8, .cells = 50 * block, .block = block};
    const ChunkedFilter chunked(shape);
    SingleChunkCache chunks(shape);
    for (std::uint64_t i = 0; i < 1000; ++i) {
      chunks.take_reads();
      chunked.add(key_hash(i), chunks);
      chunked.may_contain(key_hash(i), chunks);
      EXPECT_LE(chunks.take_reads().size(), 1U);
    }
  }
}

TEST(Chunked, HalvingChunkByChunkInPlaceEqualsHalving) {
  for (const Shape& shape : shapes()) {
    Filter whole({.shape = shape});
    const ChunkedFilter chunked(shape);
    SingleChunkCache source(shape);
    for (std::uint64_t i = 0; i < 500; ++i) {
      // Adds 20 keys, each about 25 times. Most chunks of some shapes stay empty.
      const Hash hash = key_hash(i / 3 * 3 % 60, shape.seed);
      whole.add(hash);
      chunked.add(hash, source);
    }
    if (!is_halvable(shape)) {
      continue;
    }
    std::vector<std::uint8_t> cells = source.all();
    const auto read = [&](std::uint64_t i) {
      return source.read(i) == nullptr ? nullptr : cells.data() + i * kChunkBytes;
    };
    const Shape half = halved(shape);
    for (std::uint64_t i = 0; i < chunk_count(half); ++i) {
      std::array<std::uint8_t, kChunkBytes> halved_chunk{};
      halve_chunk(shape, i, read, halved_chunk.data());
      std::copy_n(halved_chunk.begin(), chunk_bytes(half, i), cells.data() + i * kChunkBytes);
    }
    cells.resize(static_cast<std::size_t>(cell_bytes(half)));
    EXPECT_EQ(cells, cells_of(halve(whole.view()))) << shape;
  }
}

TEST(Chunked, TheSumOfABlocksCountersIsCheckedAgainstItsKeys) {
  for (const Shape& shape : shapes()) {
    if (shape.kind != Kind::counting) {
      continue;
    }
    Filter filter({.shape = shape});
    for (std::uint64_t i = 0; i < shape.cells / 20 + 1; ++i) {
      filter.add(key_hash(i, shape.seed));
    }
    const auto wrong = [&] {
      CounterSumCheck check(shape);
      const std::uint64_t per_chunk = cells_per_chunk(shape.kind);
      for (std::uint64_t first = 0; first < shape.cells; first += per_chunk) {
        check.add(first, std::min(per_chunk, shape.cells - first),
                  filter.view().cells() + first / 2);
      }
      return check.finish();
    };
    EXPECT_EQ(wrong(), std::nullopt) << shape;
    if (shape.hashes > 1) {
      const std::uint64_t cell = shape.cells * 2 / 3;
      Counters::add(filter.cells(), cell);
      EXPECT_EQ(wrong(), shape.block == 0 ? 0 : cell / shape.block) << shape;
      while (Counters::add(filter.cells(), cell)) {
      }
      EXPECT_EQ(wrong(), std::nullopt)
          << shape << ": with a saturated counter the sum cannot be checked";
    }
  }
}

TEST(Chunked, ASaturatedCounterHidesNoDamageInOtherBlocks) {
  const Shape shape{.kind = Kind::counting, .hashes = 2, .cells = 400, .block = 100};
  for (std::uint64_t saturated = 0; saturated < shape.blocks(); ++saturated) {
    for (std::uint64_t wrong = 0; wrong < shape.blocks(); ++wrong) {
      Filter filter({.shape = shape});
      Counters::add(filter.cells(), wrong * shape.block);
      while (Counters::add(filter.cells(), saturated * shape.block + 1)) {
      }
      CounterSumCheck check(shape);
      check.add(0, shape.cells, filter.view().cells());
      EXPECT_EQ(check.finish(), saturated == wrong ? std::nullopt : std::optional(wrong));
    }
  }
}

TEST(Chunked, AnEstimateFromPiecesEqualsThatOfTheFilter) {
  std::mt19937_64 random(2);
  for (const Shape& shape : shapes()) {
    Filter filter({.shape = shape});
    for (std::uint64_t i = 0; i < 1 + shape.cells / 100; ++i) {
      filter.add(key_hash(i % 40, shape.seed));
    }
    const Estimate whole = estimate(filter.view());
    Estimator estimator(shape);
    const std::uint64_t per_byte = 8 / bits_per_cell(shape.kind);
    for (std::uint64_t first = 0; first < shape.cells;) {
      const std::uint64_t count = std::min(shape.cells - first, per_byte * (1 + random() % 5000));
      const std::uint8_t* cells = filter.view().cells() + first / per_byte;
      // Empty cells need not be given to the estimator.
      if (count_nonzero(shape.kind, cells, 0, count) != 0) {
        estimator.add(first, count, cells);
      }
      first += count;
    }
    const Estimate pieces = estimator.finish();
    EXPECT_DOUBLE_EQ(pieces.fill, whole.fill) << shape;
    EXPECT_DOUBLE_EQ(pieces.keys, whole.keys) << shape;
    EXPECT_DOUBLE_EQ(pieces.fpr, whole.fpr) << shape;
    EXPECT_EQ(pieces.saturated, whole.saturated) << shape;
  }
}

TEST(Chunked, PositionsBeyond32BitsFindTheirChunk) {
  for (const Kind kind : kKinds) {
    const std::uint64_t block = cells_per_chunk(kind);
    const Shape shape{
        .kind = kind, .hashes = 4, .cells = kMaxCells / block * block, .block = block};
    const ChunkedFilter chunked(shape);
    SingleChunkCache chunks(shape);
    std::uint64_t highest = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      EXPECT_FALSE(chunked.may_contain(key_hash(i), chunks));
      EXPECT_TRUE(chunked.add(key_hash(i), chunks));
      chunked.may_contain(key_hash(i), chunks);
      highest = std::max(highest, *chunks.take_reads().rbegin());
    }
    for (std::uint64_t i = 0; i < 1000; ++i) {
      EXPECT_TRUE(chunked.may_contain(key_hash(i), chunks));
    }
    EXPECT_GT(highest, chunk_count(shape) / 100 * 99);
  }
}

}  // namespace
}  // namespace bloom::test
