// A filter whose cells lie in chunks of kChunkBytes, of which only some are at hand at a time: what
// makes filters possible that are larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/filter/key_cells.h"
#include "core/filter/probe.h"
#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"

namespace bloom {

// Asks and changes such a filter. Chunks is a class with
//   std::uint8_t* at(std::uint64_t i);  // the cells of chunk i, good until the next call
//   void mark_changed(std::uint64_t i);      // the cells that at(i) gave last were changed
// at() may throw: a key is then added or removed in part.
template <typename Chunks>
class ChunkedFilter {
 public:
  explicit ChunkedFilter(const Shape& shape)
      : shape_(shape), probe_(shape), chunk_blocks_(blocks_in_a_chunk(shape)) {}

  const Shape& shape() const { return shape_; }
  const Probe& probe() const { return probe_; }

  bool may_contain(Hash hash, Chunks& chunks) const {
    if (chunk_blocks_ != 0) {
      const Place place = place_of(hash);
      return probe_.may_contain(hash, chunks.at(place.chunk), place.first);
    }
    return across(hash, chunks, [this](auto sequence, auto cells) {
      return may_contain_key(shape_.hashes, sequence, cells);
    });
  }
  // The one chunk that holds all cells of the key, or kSeveral.
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  std::uint64_t chunk_of(Hash hash) const {
    return chunk_blocks_ == 0 ? kSeveral : place_of(hash).chunk;
  }

  // See Filter::add(), Filter::remove().
  bool add(Hash hash, Chunks& chunks) const {
    if (chunk_blocks_ != 0) {
      const Place place = place_of(hash);
      return noted(chunks, place, probe_.add(hash, chunks.at(place.chunk), place.first));
    }
    return across(hash, chunks, [this](auto sequence, auto cells) {
      return insert_key(shape_.hashes, sequence, cells);
    });
  }
  bool remove(Hash hash, Chunks& chunks) const {
    if (chunk_blocks_ != 0) {
      const Place place = place_of(hash);
      return noted(chunks, place, probe_.remove(hash, chunks.at(place.chunk), place.first));
    }
    return probe_.geometry().with_sequence(hash, [&](auto sequence) {
      const std::uint64_t first = probe_.geometry().first_cell(hash);
      return remove_key(shape_.hashes, sequence, CellsOf<Counters>(chunks, first));
    });
  }

 private:
  // As core/filter/key_cells.h wants them.
  template <typename Cell>
  class CellsOf {
   public:
    CellsOf(Chunks& chunks, std::uint64_t first) : chunks_(chunks), first_(first) {}

    unsigned is_set(std::uint64_t i) {
      return bloom::is_set<Cell>(cells_of(first_ + i), (first_ + i) % kChunkCells);
    }
    bool add(std::uint64_t i) {
      return note(Cell::add(cells_of(first_ + i), (first_ + i) % kChunkCells));
    }
    bool remove(std::uint64_t i) {
      return note(Cell::remove(cells_of(first_ + i), (first_ + i) % kChunkCells));
    }

   private:
    std::uint8_t* cells_of(std::uint64_t i) {
      if (cells_ == nullptr || i / kChunkCells != chunk_) {
        chunk_ = i / kChunkCells;
        cells_ = chunks_.at(chunk_);
        noted_ = false;
      }
      return cells_;
    }

    bool note(bool changed) {
      if (changed && !noted_) {
        chunks_.mark_changed(chunk_);
        noted_ = true;
      }
      return changed;
    }

    static constexpr std::uint64_t kChunkCells = kChunkBytes * Cell::kPerByte;

    Chunks& chunks_;
    std::uint64_t first_;
    std::uint64_t chunk_ = 0;
    std::uint8_t* cells_ = nullptr;
    bool noted_ = false;
  };

  // Returns f(the probe sequence of a key, all cells) where blocks do not lie in one chunk. Not
  // inlined: it is large, and seldom needed.
  template <typename F>
  [[gnu::noinline]] bool across(Hash hash, Chunks& chunks, F f) const {
    const std::uint64_t first = probe_.geometry().first_cell(hash);
    return probe_.geometry().with_sequence(hash, [&](auto sequence) {
      return shape_.kind == Kind::counting ? f(sequence, CellsOf<Counters>(chunks, first))
                                           : f(sequence, CellsOf<Bits>(chunks, first));
    });
  }

  // Where the block of a key starts: at cell `first` of a chunk.
  struct Place {
    std::uint64_t chunk;
    std::uint64_t first;
  };
  Place place_of(Hash hash) const {
    const std::uint64_t block = probe_.geometry().block_of(hash);
    if (chunk_blocks_ == 1) {
      return {block, 0};
    }
    return {block / chunk_blocks_, block % chunk_blocks_ * shape_.block};
  }

  static bool noted(Chunks& chunks, const Place& place, bool changed) {
    if (changed) {
      chunks.mark_changed(place.chunk);
    }
    return changed;
  }

  Shape shape_;
  Probe probe_;
  std::uint64_t chunk_blocks_;
};

// The chunks of one filter among those of several, of which its own begin at `first`.
template <typename Chunks>
class ChunksFrom {
 public:
  ChunksFrom(Chunks& chunks, std::uint64_t first) : chunks_(chunks), first_(first) {}

  std::uint8_t* at(std::uint64_t i) { return chunks_.at(first_ + i); }
  void mark_changed(std::uint64_t i) { chunks_.mark_changed(first_ + i); }

 private:
  Chunks& chunks_;
  std::uint64_t first_;
};

}  // namespace bloom
