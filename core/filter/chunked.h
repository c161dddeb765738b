// A filter whose cells are stored in chunks of kChunkBytes, only some of which are in memory at a
// time. This allows filters that are larger than memory.
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

// Looks up, adds and removes keys of such a filter. `Chunks` is a class with
//   std::uint8_t* at(std::uint64_t i);  // the cells of chunk i, valid until the next call
//   void mark_changed(std::uint64_t i);  // marks the cells returned by the last at(i) as changed
// at() may throw. The key may then be added or removed in some of its cells only.
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
  // Returns the chunk that holds all cells of the key, or kSeveral if they can be in more than one.
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  std::uint64_t chunk_of(Hash hash) const {
    return chunk_blocks_ == 0 ? kSeveral : place_of(hash).chunk;
  }

  // See Filter::add() and Filter::remove().
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
  // The `Cells` class that core/filter/key_cells.h expects. Loads chunks on demand.
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

  // Returns f(probe sequence of the key, cells) for shapes with blocks that span chunks. Not
  // inlined, because it is large and rarely called.
  template <typename F>
  [[gnu::noinline]] bool across(Hash hash, Chunks& chunks, F f) const {
    const std::uint64_t first = probe_.geometry().first_cell(hash);
    return probe_.geometry().with_sequence(hash, [&](auto sequence) {
      return shape_.kind == Kind::counting ? f(sequence, CellsOf<Counters>(chunks, first))
                                           : f(sequence, CellsOf<Bits>(chunks, first));
    });
  }

  // The start of a key's block: cell `first` of chunk `chunk`.
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

// Adapts the chunks of several filters to one of them, whose chunk 0 is chunk `first` of `chunks`.
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
