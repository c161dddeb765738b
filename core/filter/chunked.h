// A filter whose cells are stored in chunks of kChunkBytes, only some of which are in memory at a
// time. This allows filters that are larger than memory.
//
// `Chunks` is a class that loads chunks on demand:
//   std::uint8_t* at(std::uint64_t i);  // the cells of chunk i, valid until the next call
//   void mark_changed(std::uint64_t i);  // marks the cells returned by the last at(i) as changed
// at() may throw. The key may then be added or removed in some of its cells only.
#pragma once

#include <cstdint>

#include "core/filter/array_filter.h"
#include "core/filter/key_cells.h"
#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"

namespace bloom {

// Where the block of a key is stored.
struct Placement {
  static constexpr std::uint64_t kSeveralChunks = ~std::uint64_t{0};

  // The chunk that holds all cells of the key, or kSeveralChunks if they can be in more than one.
  std::uint64_t chunk;
  // The first cell of the block: as a cell of `chunk`, or as a cell of the filter if there are
  // several chunks.
  std::uint64_t first_cell;
};

// Looks up, adds and removes keys of a filter in chunks. Does not own the chunks.
class ChunkedFilter {
 public:
  // The chunks of the filter are first_chunk, first_chunk + 1, ... of `Chunks`.
  explicit ChunkedFilter(const Shape& shape, std::uint64_t first_chunk = 0)
      : shape_(shape),
        array_filter_(shape),
        first_chunk_(first_chunk),
        blocks_per_chunk_(blocks_per_chunk(shape)) {}

  std::uint64_t first_chunk() const { return first_chunk_; }
  const ArrayFilter& array_filter() const { return array_filter_; }

  Placement placement_of(Hash hash) const {
    const std::uint64_t block = array_filter_.geometry().block_of(hash);
    if (blocks_per_chunk_ == 1) {
      return {first_chunk_ + block, 0};
    }
    if (blocks_per_chunk_ == 0) {
      return {Placement::kSeveralChunks, array_filter_.geometry().first_cell(hash)};
    }
    return {first_chunk_ + block / blocks_per_chunk_, block % blocks_per_chunk_ * shape_.block};
  }

  // See Filter. Requires: `place` is placement_of(hash).
  template <typename Chunks>
  bool may_contain(Hash hash, Placement place, Chunks& chunks) const {
    if (place.chunk != Placement::kSeveralChunks) {
      return array_filter_.may_contain(hash, chunks.at(place.chunk), place.first_cell);
    }
    return with_chunked_cells(hash, place, chunks, [this](auto sequence, auto cells) {
      return may_contain_key(shape_.hashes, sequence, cells);
    });
  }
  template <typename Chunks>
  bool add(Hash hash, Placement place, Chunks& chunks) const {
    if (place.chunk != Placement::kSeveralChunks) {
      return mark_if(array_filter_.add(hash, chunks.at(place.chunk), place.first_cell), place,
                     chunks);
    }
    return with_chunked_cells(hash, place, chunks, [this](auto sequence, auto cells) {
      return insert_key(shape_.hashes, sequence, cells);
    });
  }
  template <typename Chunks>
  bool remove(Hash hash, Placement place, Chunks& chunks) const {
    if (place.chunk != Placement::kSeveralChunks) {
      return mark_if(array_filter_.remove(hash, chunks.at(place.chunk), place.first_cell), place,
                     chunks);
    }
    return array_filter_.geometry().with_sequence(hash, [&](auto sequence) {
      return remove_key(shape_.hashes, sequence,
                        ChunkedCells<Counters, Chunks>(*this, chunks, place));
    });
  }

  template <typename Chunks>
  bool may_contain(Hash hash, Chunks& chunks) const {
    return may_contain(hash, placement_of(hash), chunks);
  }
  template <typename Chunks>
  bool add(Hash hash, Chunks& chunks) const {
    return add(hash, placement_of(hash), chunks);
  }
  template <typename Chunks>
  bool remove(Hash hash, Chunks& chunks) const {
    return remove(hash, placement_of(hash), chunks);
  }

 private:
  // The cells of a block that may span several chunks, which are loaded on demand. This is the
  // `Cells` class that core/filter/key_cells.h expects.
  template <typename Cell, typename Chunks>
  class ChunkedCells {
   public:
    ChunkedCells(const ChunkedFilter& filter, Chunks& chunks, Placement place)
        : chunks_(chunks), first_chunk_(filter.first_chunk_), first_cell_(place.first_cell) {}

    unsigned is_set(std::uint64_t i) {
      std::uint8_t* const cells = load_chunk_of(i);
      return bloom::is_set<Cell>(cells, index_in_chunk(i));
    }
    bool add(std::uint64_t i) {
      std::uint8_t* const cells = load_chunk_of(i);
      return mark_if(Cell::add(cells, index_in_chunk(i)));
    }
    bool remove(std::uint64_t i) {
      std::uint8_t* const cells = load_chunk_of(i);
      return mark_if(Cell::remove(cells, index_in_chunk(i)));
    }

   private:
    std::uint64_t index_in_chunk(std::uint64_t i) const { return (first_cell_ + i) % kCells; }

    std::uint8_t* load_chunk_of(std::uint64_t i) {
      const std::uint64_t chunk = first_chunk_ + (first_cell_ + i) / kCells;
      if (cells_ == nullptr || chunk != chunk_) {
        chunk_ = chunk;
        cells_ = chunks_.at(chunk_);
        is_marked_ = false;
      }
      return cells_;
    }

    bool mark_if(bool changed) {
      if (changed && !is_marked_) {
        chunks_.mark_changed(chunk_);
        is_marked_ = true;
      }
      return changed;
    }

    static constexpr std::uint64_t kCells = kChunkBytes * Cell::kPerByte;

    Chunks& chunks_;
    std::uint64_t first_chunk_;
    std::uint64_t first_cell_;
    std::uint64_t chunk_ = 0;
    std::uint8_t* cells_ = nullptr;
    bool is_marked_ = false;
  };

  // Returns f(probe sequence of the key, cells). Not inlined, because it is large and rarely
  // called.
  template <typename Chunks, typename F>
  [[gnu::noinline]] bool with_chunked_cells(Hash hash, Placement place, Chunks& chunks, F f) const {
    return array_filter_.geometry().with_sequence(hash, [&](auto sequence) {
      return shape_.kind == Kind::counting
                 ? f(sequence, ChunkedCells<Counters, Chunks>(*this, chunks, place))
                 : f(sequence, ChunkedCells<Bits, Chunks>(*this, chunks, place));
    });
  }

  template <typename Chunks>
  static bool mark_if(bool changed, Placement place, Chunks& chunks) {
    if (changed) {
      chunks.mark_changed(place.chunk);
    }
    return changed;
  }

  Shape shape_;
  ArrayFilter array_filter_;
  std::uint64_t first_chunk_;
  std::uint64_t blocks_per_chunk_;  // 0: a block can span several chunks
};

}  // namespace bloom
