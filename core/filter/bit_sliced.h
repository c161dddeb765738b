// A segment: 64 standard filters of equal shape, bit-sliced. Bit j of word p is bit p of filter j.
// One lookup reads k words and answers for all 64 filters. Bit slicing is known from signature
// files (C. Faloutsos, S. Christodoulakis, doi:10.1145/2275.357411) and from BIGSI
// (doi:10.1038/s41587-018-0010-1).
//
// The filters are blocked, with kSegmentBlock cells per block. Chunk i of a segment holds block i
// of all its filters: kSegmentBlock little-endian words. All cells of a key are in one chunk.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <span>

#include "core/hashing/hash.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"
#include "core/support/bytes.h"
#include "core/support/memory.h"

namespace bloom {

// The filters of one segment, as a set: bit j stands for filter j.
using FilterSet = std::uint64_t;
inline constexpr unsigned kSegmentFilters = 64;
inline constexpr std::uint64_t kSegmentBlock = kChunkBytes / sizeof(FilterSet);
inline constexpr std::size_t kFilterBlockBytes = kSegmentBlock / 8;
static_assert(kSegmentBlock % 8 == 0);

class BitSlicedFilters {
 public:
  // Requires: the kind is standard, and the block size is kSegmentBlock.
  explicit BitSlicedFilters(const Shape& shape) : geometry_(shape) {
    assert(shape.kind == Kind::standard && shape.block == kSegmentBlock);
  }

  // Returns the chunk that holds all cells of the key.
  std::uint64_t chunk_of(Hash hash) const { return geometry_.block_of(hash); }

  // Calls f(p) for the k positions of the key within its chunk. Forced inline: otherwise GCC emits
  // a call per position or keeps the probe sequence in memory, which takes twice as long.
  template <typename F>
  [[gnu::always_inline]] void for_each_position(Hash hash, F&& f) const {
    BlockSequence sequence(geometry_, hash);
    for (std::uint32_t i = geometry_.hashes(); i > 0; --i) {
      f(sequence.next());
    }
  }

  // Returns the filters that may contain the key. `chunk` is the chunk of the key.
  FilterSet may_contain(Hash hash, const std::uint8_t* chunk) const {
    FilterSet filters = ~FilterSet{0};
    for_each_position(hash, [&](std::uint64_t p) {
      filters &= load_le<FilterSet>(chunk + p * sizeof(FilterSet));
    });
    return filters;
  }

  // Adds the key to each of `filters`.
  void add(Hash hash, FilterSet filters, std::uint8_t* chunk) const {
    for_each_position(hash, [&](std::uint64_t p) {
      std::uint8_t* const word = chunk + p * sizeof(FilterSet);
      store_le(word, load_le<FilterSet>(word) | filters);
    });
  }

 private:
  Geometry geometry_;
};

// One block of a filter as FilterView::cells() holds it: bit p is the cell at position p.
using FilterBlock = std::array<std::uint8_t, kFilterBlockBytes>;

// Returns the blocks of all 64 filters of a chunk.
std::array<FilterBlock, kSegmentFilters> filter_blocks(const std::uint8_t* chunk);
// Adds the cells of a block to filter j of a chunk.
void add_block(std::span<const std::uint8_t> block, unsigned j, std::uint8_t* chunk);

class FilterCells;
// Filter j of a segment, or null.
using FiltersOfSegment = std::array<const FilterCells*, kSegmentFilters>;
// Adds block i of each of the filters to chunk i of their segment. Filter j of the segment gets the
// cells of filters[j], unless that is null.
void add_cells(const FiltersOfSegment& filters, std::uint64_t i, std::uint8_t* chunk);
// Sets all cells of `filters` to 0.
void clear_filters(FilterSet filters, std::uint8_t* chunk);

// The cells of one filter of a segment, to add many keys in memory. Each block is one cache line.
class FilterCells {
 public:
  // Throws std::bad_alloc. Requires what BitSlicedFilters requires.
  explicit FilterCells(const Shape& shape);

  void add(std::span<const Hash> hashes);
  // Sets all cells: the filter then may contain every key.
  void set_all();
  // Returns block i: kPaddedBlockBytes bytes. Bit p is the cell at position p. The padding, the
  // bits from kSegmentBlock on, is 0.
  const std::uint8_t* block(std::uint64_t i) const { return bytes_.get() + i * kPaddedBlockBytes; }

  static constexpr std::size_t kPaddedBlockBytes = 64;
  static_assert(kPaddedBlockBytes * 8 >= kSegmentBlock);

 private:
  BitSlicedFilters filters_;
  std::uint64_t blocks_;
  OwnedBytes bytes_;
};

}  // namespace bloom
