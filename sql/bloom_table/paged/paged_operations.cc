// The changes of a PagedFilter that concern all keys.
#include <algorithm>
#include <cassert>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/operations/fold.h"
#include "core/operations/merge.h"
#include "core/support/error.h"
#include "sql/bloom_table/paged/halve_stored.h"
#include "sql/bloom_table/paged/paged_change.h"
#include "sql/bloom_table/paged/paged_filter.h"

namespace bloom {

// Requires: a Change is active, which undoes this on failure.
void PagedFilter::reset_to(const BloomConfig& config) {
  BloomConfig with_log = config;
  with_log.has_row_log = config_.has_row_log || store_.row_log().make();
  with_log.row_log_has_rows = config_.row_log_has_rows;
  store_.reset_counts();
  store_.delete_chunks_from(0);
  store_.save_config(with_log);
  drop_cache();
  current_filter();
}

void PagedFilter::merge_log(ChangeLog::Keep keep, const std::function<void(const Add&)>& fill) {
  Change change(*this, Change::Touches::anything);
  {
    const Deferral deferral(*this);
    const Shape shape = this->shape();  // a copy: a new layer moves the layers
    log_.for_each_change(shape, [&](bool added, std::optional<Hash> hash) {
      if (added) {
        add_while_deferring(*hash);
      } else if (shape.kind == Kind::counting && !current_filter().remove(*hash, cache_)) {
        fail(
            "a key that left the source is not in the filter: filter and source are out of sync "
            "(the command 'rebuild' fixes that)");
      }
    });
    if (fill) {
      fill([this](Hash hash) { add_while_deferring(hash); });
    }
    current_filter();
  }
  log_.clear(keep);
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
            .trigger_set = config_.trigger_set});
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
  for_each_piece(chunk_count(shape()), kChunks, check_interrupt, [&](auto first, auto count) {
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
