// The changes of a PagedFilter that concern all keys.
#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <span>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/operations/fold.h"
#include "core/operations/merge.h"
#include "core/support/error.h"
#include "core/support/memory.h"
#include "sql/bloom_table/paged/paged_change.h"
#include "sql/bloom_table/paged/paged_filter.h"

namespace bloom {
namespace {

// Reads and replaces the stored chunks of a filter. Caches the chunk that was read last.
class StoredChunks {
 public:
  StoredChunks(BloomStore& store, const Shape& shape) : store_(store), shape_(shape) {}

  // Returns the cells of chunk i, or null if it has no row. The pointer is valid until the next
  // call.
  const std::uint8_t* read(std::uint64_t i) {
    if (cached_ != i) {
      cached_.reset();
      has_row_ = store_.load_chunk(i, std::span(cells_).first(chunk_bytes(shape_, i)));
      cached_ = i;
    }
    return has_row_ ? cells_.data() : nullptr;
  }

  // Replaces chunk i. The new size may differ, because the new chunk belongs to a halved filter.
  void replace(std::uint64_t i, std::span<const std::uint8_t> cells) {
    erase(i);
    store_.insert_chunk(i, cells);
  }
  void erase(std::uint64_t i) {
    if (read(i) != nullptr) {
      store_.delete_chunk(i);
      cached_.reset();
    }
  }

 private:
  BloomStore& store_;
  Shape shape_;
  std::array<std::uint8_t, kChunkBytes> cells_{};
  std::optional<std::uint64_t> cached_;
  bool has_row_ = false;
};

// Returns, in order, the chunks to write or delete. These are the nonempty chunks of the halved
// filter, and the stored chunks that have a number below `half_count`.
CountedVector<std::uint64_t> chunks_to_change(BloomStore& store, const Shape& shape,
                                              std::uint64_t half_count) {
  CountedVector<std::uint64_t> chunks;
  for (const std::uint64_t i : store.stored_chunks()) {
    for_each_halved_chunk(shape, i, [&](std::uint64_t to) {
      if (chunks.empty() || chunks.back() != to) {
        chunks.push_back(to);
      }
    });
    if (i < half_count) {
      chunks.push_back(i);
    }
  }
  std::sort(chunks.begin(), chunks.end());
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

// Chunk i of the halved filter is made of chunks with numbers i and above. Working upwards
// therefore reads each chunk before it is replaced. Chunks without a row are skipped: a table may
// have billions of them.
//
// Replaces the chunks of a filter of this shape by those of the halved filter. The time depends on
// the number of stored chunks, not on the size of the filter. Throws what BloomStore throws; some
// chunks may then be replaced and others not.
void halve_stored_chunks(BloomStore& store, const Shape& shape) {
  const Shape half = halved(shape);
  const std::uint64_t half_count = chunk_count(half);
  StoredChunks chunks(store, shape);
  const auto read = [&](std::uint64_t i) { return chunks.read(i); };
  std::array<std::uint8_t, kChunkBytes> cells{};
  for (const std::uint64_t i : chunks_to_change(store, shape, half_count)) {
    cells.fill(0);
    if (halve_chunk(shape, i, read, cells.data())) {
      chunks.replace(i, std::span(cells).first(chunk_bytes(half, i)));
    } else {
      chunks.erase(i);
    }
  }
  store.delete_chunks_from(half_count);
}

}  // namespace

// Requires: a Change is active, which undoes this on failure.
void PagedFilter::reset_to(const BloomConfig& config) {
  BloomConfig with_row_log = config;
  with_row_log.has_row_log = config_.has_row_log || store_.row_log().make();
  with_row_log.row_log_has_rows = config_.row_log_has_rows;
  store_.reset_counts();
  store_.delete_chunks_from(0);
  store_.save_config(with_row_log);
  drop_cache();
  current_filter();
}

void PagedFilter::merge_change_log(ChangeLog::Keep keep,
                                   const std::function<void(const Add&)>& fill) {
  Change change(*this, Change::Touches::anything);
  {
    const Deferral deferral(*this);
    const Shape shape = this->shape();  // a copy: a new layer moves the layers
    // A trigger that runs within an UPDATE can remove the key that the UPDATE adds. The log has the
    // removal first then, because the key of several columns is added AFTER.
    CountedVector<Hash> early;
    change_log_.for_each_change(shape, [&](bool added, std::optional<Hash> hash) {
      if (added) {
        add_while_deferring(*hash);
      } else if (shape.kind == Kind::counting && !current_filter().remove(*hash, cache_)) {
        early.push_back(*hash);
      }
    });
    for (const Hash hash : early) {
      if (!current_filter().remove(hash, cache_)) {
        fail(
            "a key that left the source is not in the filter: filter and source are out of sync "
            "(the command 'rebuild' fixes that)");
      }
    }
    if (fill) {
      fill([this](Hash hash) { add_while_deferring(hash); });
    }
    current_filter();
  }
  change_log_.clear(keep);
  change.done();
}

void PagedFilter::rebuild(const BloomConfig& config, const std::function<void(const Add&)>& fill) {
  Change change(*this, Change::Touches::anything);
  reset_to(config);
  fill_with(fill);
  // The statement may fail after this, when it makes the triggers, and its row is not counted then.
  change.done(false);
}

void PagedFilter::clear() {
  Change change(*this, Change::Touches::anything);
  reset_to({.layers = config_.layers.are_generations() ? config_.layers
                                                       : Layers(config_.layers.oldest().header),
            .trigger_set_number = config_.trigger_set_number});
  change.done();
}

void PagedFilter::rotate() {
  Change change(*this, Change::Touches::anything);
  write_deferred_changes();
  assert(config_.layers.are_generations());
  BloomConfig rotated = config_;
  rotated.layers.rotate();
  store_.delete_layer(rotated.layers, rotated.layers.newest_index());
  store_.save_config(rotated);
  drop_cache();
  change.done();
}

void PagedFilter::merge_filter(const FilterView& filter, const InterruptCheck& check_interrupt) {
  constexpr std::uint64_t kChunks = kPieceBytes / kChunkBytes;
  Change change(*this, Change::Touches::anything);
  check_integrity();
  assert(filter.shape() == config_.layers.newest().header.shape && !growth_);
  const std::uint64_t first_chunk = config_.layers.newest().first_chunk;
  for_each_piece(chunk_count(filter.shape()), kChunks, check_interrupt,
                 [&](auto first, auto count) {
                   for (std::uint64_t i = first; i < first + count; ++i) {
                     merge_chunk(first_chunk + i, filter.cells() + i * kChunkBytes);
                   }
                 });
  const Kind kind = shape().kind;
  if (kind == Kind::counting && !config_.has_merged_filter) {
    config_.has_merged_filter = true;
    store_.save_config(config_);
  }
  change.done();
}

void PagedFilter::merge_chunk(std::uint64_t i, const std::uint8_t* from) {
  const std::size_t size = config_.layers.chunk_bytes(i);
  if (std::any_of(from, from + size, [](std::uint8_t byte) { return byte != 0; })) {
    union_cells(shape().kind, cache_.at(i), from, size);
    cache_.mark_changed(i);
  }
}

void PagedFilter::halve() {
  Change change(*this, Change::Touches::anything);
  check_integrity();
  halve_to(halved(layers().newest().header), 1);
  change.done();
}

void PagedFilter::fold(double fpr) {
  Change change(*this, Change::Touches::anything);
  check_integrity();
  const Header header = layers().newest().header;
  const unsigned times = times_foldable(header, estimates().front(), fpr);
  if (times > 0) {
    halve_to(folded(header, times, fpr), times);
  }
  change.done();
}

// Requires: a Change is active, which undoes this on failure. The filter has one layer. Halving its
// shape this many times gives the shape of `goal`.
void PagedFilter::halve_to(const Header& goal, unsigned times) {
  assert(config_.layers.size() == 1);
  write_deferred_changes();
  store_.reset_counts();
  Shape shape = this->shape();
  for (unsigned i = 0; i < times; ++i, shape = halved(shape)) {
    halve_stored_chunks(store_, shape);
  }
  config_.counts_rows = true;
  config_.layers = Layers(goal);
  store_.save_config(config_);
  store_.set_count_of_single_layer();
  drop_cache();
}

}  // namespace bloom
