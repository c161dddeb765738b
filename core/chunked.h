// A filter whose cells lie in chunks of kChunkBytes, of which only some are at hand at a time: what
// makes filters possible that are larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/cells.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/key_cells.h"
#include "core/probe.h"

namespace bloom {

// How many blocks a chunk holds; 0 if there are blocks that do not lie in one chunk.
std::uint64_t blocks_in_a_chunk(const Shape& shape);

// Asks and changes such a filter. Chunks is a class with
//   std::uint8_t* at(std::uint64_t i);  // the cells of chunk i, good until the next call
//   void changed(std::uint64_t i);      // the cells that at(i) gave last were changed
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
  // As core/key_cells.h wants them.
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
        chunks_.changed(chunk_);
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
      chunks.changed(place.chunk);
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
  void changed(std::uint64_t i) { chunks_.changed(first_ + i); }

 private:
  Chunks& chunks_;
  std::uint64_t first_;
};

// The cells of chunk i, good until the next call; null if all are 0.
using ChunkReader = std::function<const std::uint8_t*(std::uint64_t i)>;

// Chunk i of the half of a filter of this shape, into zeroed `to`. It is made of chunks i and later
// ones, so a filter can be halved in place, from its first chunk on. Returns whether there was any.
// REQUIRES: fold_of(shape) != Fold::none
bool fold_chunk(const Shape& shape, std::uint64_t i, const ChunkReader& read, std::uint8_t* to);

// Calls f(to) for the chunks of the half that chunk i of a filter of this shape goes into, in
// order; it may do so several times for one chunk. REQUIRES: fold_of(shape) != Fold::none
template <typename F>
void for_each_folded_chunk(const Shape& shape, std::uint64_t i, F&& f) {
  const std::uint64_t per_chunk = chunk_cells(shape.kind);
  const auto chunks_of = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t to = first / per_chunk; to <= (first + count - 1) / per_chunk; ++to) {
      f(to);
    }
  };
  const std::uint64_t first = i * per_chunk;
  const std::uint64_t count = cells_in_chunk(shape, i);
  if (fold_of(shape) == Fold::cells) {
    chunks_of(first / 2, (count + 1) / 2);
    return;
  }
  for_each_part(first, count, shape.block, [&](auto block, auto cell, auto n) {
    chunks_of(block / 2 * shape.block + cell % shape.block, n);
  });
}

// A check of counters that come piece by piece, in order: every key adds k to the counters of its
// block, so their sum is a multiple of k as long as none is stuck.
class CounterTotals {
 public:
  explicit CounterTotals(const Shape& shape) : shape_(shape) {}

  // Counters first..first+count-1 of the filter are counters 0..count-1 of `counters`.
  void add(std::uint64_t first, std::uint64_t count, const std::uint8_t* counters);
  // The first block whose sum is no multiple of k.
  std::optional<std::uint64_t> finish();

 private:
  void end_block();

  Shape shape_;
  std::uint64_t block_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t saturated_ = 0;
  std::optional<std::uint64_t> wrong_;
};

}  // namespace bloom
