// 64 bit-sliced filters have the same cells, and give the same answers, as 64 filters of
// core/filter/filter.h.

#include "core/filter/bit_sliced.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/filter/filter.h"
#include "tests/support/keys.h"

namespace bloom::test {
namespace {

std::vector<Shape> shapes() {
  using enum Kind;
  return {
      {.kind = standard, .hashes = 1, .cells = kSegmentBlock, .block = kSegmentBlock},
      {.kind = standard, .hashes = 7, .cells = kSegmentBlock, .block = kSegmentBlock},
      {.kind = standard, .hashes = 4, .cells = 3 * kSegmentBlock, .block = kSegmentBlock},
      {.kind = standard,
       .hashes = 13,
       .cells = 5 * kSegmentBlock,
       .block = kSegmentBlock,
       .seed = 77},
      {.kind = standard, .hashes = 255, .cells = 2 * kSegmentBlock, .block = kSegmentBlock},
  };
}

using Chunk = std::vector<std::uint8_t>;

// Segments and filters to which the same keys are added. Filter j has the keys i for which
// splitmix64(i) has bit j set, so that all filters differ.
class BitSliced : public testing::TestWithParam<Shape> {
 protected:
  static constexpr std::uint64_t kKeys = 60;

  BitSliced() : sliced_(shape()), chunks_(block_count(), Chunk(kChunkBytes)) {
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      filters_.emplace_back(Header{.shape = shape()});
    }
  }

  static const Shape& shape() { return GetParam(); }
  static std::size_t block_count() { return static_cast<std::size_t>(shape().blocks()); }
  static Hash hash(std::uint64_t i) { return key_hash(i, shape().seed); }
  std::uint8_t* chunk_of(Hash hash) {
    return chunks_[static_cast<std::size_t>(sliced_.chunk_of(hash))].data();
  }

  void add_keys() {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const FilterSet members = splitmix64(i);
      sliced_.add(hash(i), members, chunk_of(hash(i)));
      for (unsigned j = 0; j < kSegmentFilters; ++j) {
        if ((members >> j & 1) != 0) {
          filters_[j].add(hash(i));
        }
      }
    }
  }

  // The cells of filter j, one block per chunk.
  std::vector<std::uint8_t> cells(unsigned j) const {
    std::vector<std::uint8_t> cells;
    for (const Chunk& chunk : chunks_) {
      const FilterBlock block = filter_blocks(chunk.data())[j];
      cells.insert(cells.end(), block.begin(), block.end());
    }
    return cells;
  }
  std::vector<std::uint8_t> cells_of_filter(unsigned j) const {
    const std::uint8_t* const cells = filters_[j].view().cells();
    return {cells, cells + cell_bytes(shape())};
  }

  BitSlicedFilters sliced_;
  std::vector<Chunk> chunks_;
  std::vector<Filter> filters_;
};

TEST_P(BitSliced, HasTheCellsOfEachFilter) {
  add_keys();
  for (unsigned j = 0; j < kSegmentFilters; ++j) {
    EXPECT_EQ(cells(j), cells_of_filter(j)) << "filter " << j;
  }
}

TEST_P(BitSliced, AnswersAsEachFilter) {
  add_keys();
  for (std::uint64_t i = 0; i < 20 * kKeys; ++i) {
    FilterSet wanted = 0;
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      wanted |= FilterSet{filters_[j].may_contain(hash(i)) ? 1U : 0U} << j;
    }
    ASSERT_EQ(sliced_.may_contain(hash(i), chunk_of(hash(i))), wanted) << "key " << i;
    if (i < kKeys) {
      ASSERT_EQ(wanted & splitmix64(i), splitmix64(i)) << "key " << i << " is lost";
    }
  }
}

TEST_P(BitSliced, AddsFiltersBlockByBlock) {
  add_keys();
  std::vector<Chunk> copies(block_count(), Chunk(kChunkBytes));
  for (unsigned j = 0; j < kSegmentFilters; ++j) {
    for (std::size_t i = 0; i < block_count(); ++i) {
      const std::span block(filters_[j].view().cells() + i * kFilterBlockBytes, kFilterBlockBytes);
      add_block(block, j, copies[i].data());
      add_block(block, j, copies[i].data());  // changes nothing
    }
  }
  EXPECT_EQ(copies, chunks_);
}

TEST_P(BitSliced, AddsCellsOfManyFilters) {
  std::vector<FilterCells> cells;
  for (unsigned j = 0; j < kSegmentFilters; ++j) {
    cells.emplace_back(shape());
  }
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      if ((splitmix64(i) >> j & 1) != 0) {
        cells[j].add({{hash(i)}});
      }
    }
  }
  add_keys();
  for (const FilterSet added : {FilterSet{0x8000000000000001}, FilterSet{0xf0f0f0f0f0f0f0f0},
                                FilterSet{0}, ~FilterSet{0}}) {
    std::vector<Chunk> copies(block_count(), Chunk(kChunkBytes));
    FiltersOfSegment filters{};
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      filters[j] = (added >> j & 1) != 0 ? &cells[j] : nullptr;
    }
    for (std::size_t i = 0; i < block_count(); ++i) {
      add_cells(filters, i, copies[i].data());
      add_cells(filters, i, copies[i].data());  // changes nothing
      Chunk wanted = chunks_[i];
      clear_filters(~added, wanted.data());
      ASSERT_EQ(copies[i], wanted) << "chunk " << i << ", filters " << added;
    }
  }
}

// Keys are added in batches of any size, and to chunks that have cells already.
TEST_P(BitSliced, AddsBatchesOfKeysToOneFilter) {
  std::vector<Hash> hashes;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    hashes.push_back(hash(i));
    sliced_.add(hash(i), FilterSet{1} << 9, chunk_of(hash(i)));
  }
  FilterCells cells(shape());
  for (std::size_t first = 0, size = 0; first < hashes.size(); first += size++) {
    cells.add(std::span(hashes).subspan(first, std::min(size, hashes.size() - first)));
  }
  FiltersOfSegment filters{};
  filters[9] = &cells;
  for (std::size_t i = 0; i < block_count(); ++i) {
    Chunk chunk(kChunkBytes, 0xa5);
    add_cells(filters, i, chunk.data());
    for (std::size_t byte = 0; byte < kChunkBytes; ++byte) {
      ASSERT_EQ(chunk[byte], chunks_[i][byte] | 0xa5) << "byte " << byte;
    }
  }
}

TEST_P(BitSliced, AddingABlockKeepsWhatTheFilterHas) {
  add_keys();
  const std::vector<Chunk> before = chunks_;
  const FilterBlock empty{};
  for (Chunk& chunk : chunks_) {
    add_block(empty, 5, chunk.data());
  }
  EXPECT_EQ(chunks_, before);
}

TEST_P(BitSliced, ClearsTheGivenFiltersOnly) {
  for (const FilterSet cleared : {FilterSet{1}, FilterSet{1} << 63, FilterSet{0xf0f0f0f0f0f0f0f0},
                                  FilterSet{0}, ~FilterSet{0}}) {
    for (Chunk& chunk : chunks_) {
      std::fill(chunk.begin(), chunk.end(), std::uint8_t{0});
    }
    add_keys();
    for (Chunk& chunk : chunks_) {
      clear_filters(cleared, chunk.data());
    }
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      const bool is_cleared = (cleared >> j & 1) != 0;
      const auto wanted =
          is_cleared ? std::vector<std::uint8_t>(static_cast<std::size_t>(cell_bytes(shape())))
                     : cells_of_filter(j);
      ASSERT_EQ(cells(j), wanted) << "filter " << j;
    }
  }
}

TEST_P(BitSliced, AllCellsOfAKeyAreInItsChunk) {
  const Geometry geometry(shape());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_LT(sliced_.chunk_of(hash(i)), shape().blocks());
    std::uint32_t positions = 0;
    sliced_.for_each_position(hash(i), [&](std::uint64_t p) {
      ASSERT_LT(p, kSegmentBlock);
      ++positions;
    });
    ASSERT_EQ(positions, shape().hashes);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BitSliced, testing::ValuesIn(shapes()));

// The last round of the transposition has 48 positions instead of 64: no bit of another position or
// filter may enter it.
TEST(BitSlicedBlocks, EachBitIsAtItsPosition) {
  Chunk chunk(kChunkBytes);
  for (std::size_t p = 0; p < kSegmentBlock; ++p) {
    for (const unsigned j : {0U, 1U, 7U, 8U, 31U, 32U, 62U, 63U}) {
      std::fill(chunk.begin(), chunk.end(), std::uint8_t{0});
      chunk[p * 8 + j / 8] = static_cast<std::uint8_t>(1U << j % 8);  // little-endian words
      const auto blocks = filter_blocks(chunk.data());
      for (unsigned other = 0; other < kSegmentFilters; ++other) {
        FilterBlock wanted{};
        if (other == j) {
          wanted[p / 8] = static_cast<std::uint8_t>(1U << p % 8);
        }
        ASSERT_EQ(blocks[other], wanted)
            << "position " << p << ", filters " << j << " and " << other;
      }
    }
  }
}

TEST(BitSlicedBlocks, ChunksOfRandomBytesAreRestored) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Chunk chunk(kChunkBytes);
    std::generate(chunk.begin(), chunk.end(), [&] { return static_cast<std::uint8_t>(random()); });
    const auto blocks = filter_blocks(chunk.data());
    Chunk again(kChunkBytes);
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      add_block(blocks[j], j, again.data());
    }
    ASSERT_EQ(again, chunk);
  }
}

}  // namespace
}  // namespace bloom::test
