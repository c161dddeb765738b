#include "core/filter/bit_sliced.h"

#include <algorithm>
#include <cassert>

#include "core/layout/cells.h"

namespace bloom {
namespace {

// Transposes a matrix of 64 x 64 bits: bit i of row j becomes bit j of row i. Each round divides
// the matrix into squares of 2 * size rows, and swaps two of the four quarters of each square (H.
// Warren, Hacker's Delight, section 7-3).
void transpose(std::array<std::uint64_t, 64>& rows) {
  std::uint64_t low = 0x00000000ffffffff;
  for (unsigned size = 32; size != 0; size /= 2, low ^= low << size) {
    for (unsigned i = 0; i < 64; i = (i + size + 1) & ~size) {
      const std::uint64_t swapped = ((rows[i] >> size) ^ rows[i + size]) & low;
      rows[i] ^= swapped << size;
      rows[i + size] ^= swapped;
    }
  }
}

}  // namespace

std::array<FilterBlock, kSegmentFilters> filter_blocks(const std::uint8_t* chunk) {
  std::array<FilterBlock, kSegmentFilters> blocks{};
  constexpr std::size_t kWords = kSegmentBlock;
  for (std::size_t first = 0; first < kWords; first += 64) {
    std::array<std::uint64_t, 64> rows{};
    const std::size_t count = std::min<std::size_t>(64, kWords - first);
    for (std::size_t p = 0; p < count; ++p) {
      rows[p] = load_le<std::uint64_t>(chunk + (first + p) * sizeof(FilterSet));
    }
    transpose(rows);
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      for (std::size_t byte = 0; byte < count / 8; ++byte) {
        blocks[j][first / 8 + byte] = static_cast<std::uint8_t>(rows[j] >> (8 * byte));
      }
    }
  }
  return blocks;
}

void add_block(std::span<const std::uint8_t> block, unsigned j, std::uint8_t* chunk) {
  const auto bit = static_cast<std::uint8_t>(1U << j % 8);
  for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
    if (Bits::get(block.data(), p) != 0) {
      const std::uint64_t at = p * sizeof(FilterSet) + j / 8;
      chunk[at] = static_cast<std::uint8_t>(chunk[at] | bit);
    }
  }
}

FilterCells::FilterCells(const Shape& shape)
    : filters_(shape),
      blocks_(shape.blocks()),
      bytes_(zeroed_bytes(shape.blocks() * kPaddedBlockBytes, Access::dense)) {
  assert(shape.kind == Kind::standard && shape.block == kSegmentBlock);
}

void FilterCells::add(std::span<const Hash> hashes) {
  std::uint8_t* const cells = bytes_.get();
  const BitSlicedFilters filters = filters_;  // a copy, which writes to the cells do not change
  for (const Hash hash : hashes) {
    std::uint8_t* const block = cells + filters.chunk_of(hash) * kPaddedBlockBytes;
    filters.for_each_position(hash, [&](std::uint64_t p) {
      std::uint8_t* const word = block + p / 64 * 8;
      store_le(word, load_le<std::uint64_t>(word) | std::uint64_t{1} << p % 64);
    });
  }
}

void FilterCells::set_all() {
  for (std::uint64_t i = 0; i < blocks_; ++i) {
    std::fill_n(bytes_.get() + i * kPaddedBlockBytes, kFilterBlockBytes, std::uint8_t{0xff});
  }
}

void add_cells(const FiltersOfSegment& filters, std::uint64_t i, std::uint8_t* chunk) {
  for (std::size_t first = 0; first < kSegmentBlock; first += 64) {
    std::array<std::uint64_t, 64> rows{};
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      rows[j] =
          filters[j] == nullptr ? 0 : load_le<std::uint64_t>(filters[j]->block(i) + first / 8);
    }
    transpose(rows);
    const std::size_t count = std::min<std::size_t>(64, kSegmentBlock - first);
    for (std::size_t p = 0; p < count; ++p) {
      std::uint8_t* const word = chunk + (first + p) * sizeof(FilterSet);
      store_le(word, load_le<FilterSet>(word) | rows[p]);
    }
  }
}

void clear_filters(FilterSet filters, std::uint8_t* chunk) {
  for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
    std::uint8_t* const word = chunk + p * sizeof(FilterSet);
    store_le(word, load_le<FilterSet>(word) & ~filters);
  }
}

}  // namespace bloom
