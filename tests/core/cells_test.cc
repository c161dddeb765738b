// Operations on whole arrays, a word at a time, compared with the same operations cell by cell.

#include "core/layout/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/layout/format.h"
#include "core/layout/halving.h"

namespace bloom {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Returns cells of all values, including runs of empty cells and runs of full ones.
Bytes some_cells(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes cells(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uint64_t word = random();
    cells[i] = static_cast<std::uint8_t>(i / 16 % 4 == 0 ? 0x00 : i / 16 % 4 == 1 ? 0xff : word);
  }
  return cells;
}

unsigned cell(Kind kind, const Bytes& cells, std::uint64_t i) {
  return kind == Kind::counting ? Counters::get(cells.data(), i) : Bits::get(cells.data(), i);
}

TEST(Cells, CountingARunEqualsCountingEachCell) {
  const Bytes cells = some_cells(200, 1);
  for (const Kind kind : {Kind::standard, Kind::counting}) {
    const std::uint64_t all = cells.size() * 8 / bits_per_cell(kind);
    for (std::uint64_t first = 0; first < 80; ++first) {
      std::uint64_t used = 0;
      std::uint64_t saturated = 0;
      std::uint64_t sum = 0;
      for (std::uint64_t count = 0; first + count <= all; ++count) {
        ASSERT_EQ(count_nonzero(kind, cells.data(), first, count), used) << first << " " << count;
        if (kind == Kind::counting) {
          ASSERT_EQ(count_saturated(cells.data(), first, count), saturated)
              << first << " " << count;
          ASSERT_EQ(sum_counters(cells.data(), first, count), sum) << first << " " << count;
        }
        if (first + count < all) {
          const unsigned next = cell(kind, cells, first + count);
          used += next != 0 ? 1 : 0;
          saturated += next == Counters::kSaturated ? 1 : 0;
          sum += next;
        }
      }
    }
  }
}

TEST(Cells, MergingEqualsMergingEachCellAndStopsAtTheEnd) {
  for (const Kind kind : {Kind::standard, Kind::counting}) {
    const unsigned most = kind == Kind::counting ? Counters::kSaturated : 1;
    for (std::size_t bytes = 0; bytes < 100; ++bytes) {
      const Bytes a = some_cells(120, 2 + bytes);
      const Bytes b = some_cells(100, 1000 + bytes);
      Bytes merged = a;
      Bytes common = a;
      union_cells(kind, merged.data(), b.data(), bytes);
      intersect_cells(kind, common.data(), b.data(), bytes);
      const std::uint64_t end = bytes * 8 / bits_per_cell(kind);
      for (std::uint64_t i = 0; i < end; ++i) {
        const unsigned sum = cell(kind, a, i) + cell(kind, b, i);
        ASSERT_EQ(cell(kind, merged, i), std::min(sum, most)) << bytes << " " << i;
        ASSERT_EQ(cell(kind, common, i), std::min(cell(kind, a, i), cell(kind, b, i))) << i;
      }
      ASSERT_TRUE(std::equal(a.begin() + static_cast<std::ptrdiff_t>(bytes), a.end(),
                             merged.begin() + static_cast<std::ptrdiff_t>(bytes)));
      ASSERT_TRUE(std::equal(a.begin() + static_cast<std::ptrdiff_t>(bytes), a.end(),
                             common.begin() + static_cast<std::ptrdiff_t>(bytes)));
    }
  }
}

TEST(Cells, HalvingAnUnblockedFilterMergesTwoCellsIntoOne) {
  for (const Kind kind : {Kind::standard, Kind::counting}) {
    const unsigned most = kind == Kind::counting ? Counters::kSaturated : 1;
    for (std::uint64_t half = 1; half < 400; ++half) {
      const Shape shape{.kind = kind, .hashes = 1, .cells = 2 * half};
      Bytes from = some_cells(static_cast<std::size_t>(cell_bytes(shape)), half);
      from.back() &= static_cast<std::uint8_t>(~padding_mask(shape));
      Bytes to(static_cast<std::size_t>(cell_bytes(halved(shape))));
      halve_cells(shape, to.data(), from.data(), 0, half);
      for (std::uint64_t i = 0; i < half; ++i) {
        const unsigned sum = cell(kind, from, 2 * i) + cell(kind, from, 2 * i + 1);
        ASSERT_EQ(cell(kind, to, i), std::min(sum, most)) << half << " " << i;
      }
      ASSERT_EQ(to.back() & padding_mask(halved(shape)), 0) << half;
    }
  }
}

TEST(Cells, CountersThatAreNotZeroBecomeBits) {
  const Bytes counters = some_cells(100, 3);
  for (std::uint64_t cells = 1; cells <= 200; ++cells) {
    Bytes bits(26);
    counters_to_bits(bits.data(), counters.data(), cells);
    for (std::uint64_t i = 0; i < 8 * bits.size(); ++i) {
      const bool used = i < cells && Counters::get(counters.data(), i) != 0;
      ASSERT_EQ(Bits::get(bits.data(), i), used ? 1U : 0U) << cells << " " << i;
    }
  }
}

}  // namespace
}  // namespace bloom
