#include "sql/bloom_table/paged/cached_filter.h"

#include <algorithm>
#include <utility>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/operations/estimate.h"
#include "core/operations/integrity.h"
#include "sql/sqlite/guard.h"
#include "sql/vtab/damage.h"

namespace bloom {

using sqlite::SqliteError;

CachedFilter::CachedFilter(sqlite3* db, std::string schema, std::string table,
                           std::uint64_t cache_bytes, const std::optional<Growth>& growth,
                           SharedByFilters& shared)
    : store_(db, std::move(schema), std::move(table)),
      cache_(store_, cache_bytes),
      change_log_(db, store_.tables().schema(), store_.tables().table()),
      row_log_(store_.row_log()),
      growth_(growth),
      transaction_(db),
      shared_(shared) {
  cache_.set_overlay(
      [this](std::uint64_t i, std::uint8_t* cells) { row_log_.apply(*filter_, i, cells); });
}

CachedFilter::~CachedFilter() {
  if (shared_.deferring == this) {
    shared_.deferring = nullptr;
  }
}

bool CachedFilter::must_be_shared(const std::string& schema, const std::string& table,
                                  bool grows) const {
  return !retired_ && transaction_.is_open() && transaction_.all_savepoints_reported() &&
         growth_.has_value() == grows && store_.tables().has_name(schema, table);
}

void CachedFilter::write_deferred_changes() {
  if (batch_size_ != 0) {
    apply_batch();
  }
  if (cache_.has_changes()) {
    cache_.flush();
    note_change();
  }
}

void CachedFilter::drop_cache(RowLogAction action) {
  cache_.forget();
  action == RowLogAction::forget ? row_log_.forget() : row_log_.newest_may_be_gone();
  change_log_.expire();
  batch_size_ = 0;
  newest_layer_fill_.forget_estimate();
  is_loaded_ = false;
}

void CachedFilter::load() {
  if (transaction_.may_have_old_name()) {
    refuse_renamed();
  }
  config_ = store_.load_config();
  change_log_.set_parts(config_.parts);
  if (growth_ && config_.layers.are_generations()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the config has generations, but the table grows");
  }
  if (!growth_ && !config_.layers.are_generations() && config_.layers.size() != 1) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the config has layers, but the table does not grow");
  }
  filter_.emplace(config_.layers);
  cache_.reset(config_.layers);
  load_row_log();
  is_loaded_ = true;
}

// The copy is of a table by this name. A rollback may give the name back to another table, whose
// log has the same ids.
void CachedFilter::load_row_log() {
  if (row_log_.copy_may_have_more() && !store_.tables().name_still_means(schema_row_of_log_)) {
    row_log_.forget();
  }
  const bool is_kept = row_log_.copy_may_have_more();
  row_log_.load(config_.layers, *filter_, config_.row_log_has_rows);
  if (!is_kept && !row_log_.empty()) {
    note_table_of_log();
  }
}

// If an authorizer hides the schema, the copy is read again after each rollback.
void CachedFilter::note_table_of_log() {
  constexpr std::int64_t kNone = -1;
  const auto outcome =
      sqlite::Outcome::of([&] { schema_row_of_log_ = store_.tables().row_in_schema(); });
  if (outcome.failed()) {
    schema_row_of_log_ = kNone;
  }
  if (outcome.code() != SQLITE_AUTH) {
    outcome.throw_failure();
  }
}

void CachedFilter::apply_batch() {
  const auto hashes = std::span<const Hash>(batch_).first(batch_size_);
  batch_size_ = 0;
  filter_->add(hashes, cache_.all_chunks());
}

// A chunk that only the row log has changed may have no row yet.
template <typename F>
void CachedFilter::for_each_used_chunk(F&& f) {
  current_filter();
  const auto pass = [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    const Layers::Layer& layer = config_.layers.layer_of(i);
    const Shape& shape = layer.header.shape;
    const std::uint64_t chunk = i - layer.first_chunk;
    f(layer, chunk * cells_per_chunk(shape.kind), cells_in_chunk(shape, chunk), cells);
  };
  const auto pass_with_row_log = [&](std::uint64_t i, std::span<const std::uint8_t> stored) {
    std::array<std::uint8_t, kChunkBytes> cells{};
    std::copy(stored.begin(), stored.end(), cells.begin());
    row_log_.apply(*filter_, i, cells.data());
    pass(i, std::span(cells).first(config_.layers.chunk_bytes(i)));
  };
  const auto logged = row_log_.chunks();
  auto next = logged.begin();
  const auto pass_logged_before = [&](std::uint64_t end) {
    for (; next != logged.end() && *next < end; ++next) {
      pass_with_row_log(*next, {});
    }
  };
  store_.for_each_chunk(config_.layers, [&](std::uint64_t i, std::span<const std::uint8_t> stored) {
    pass_logged_before(i);
    if (next != logged.end() && *next == i) {
      ++next;
      return pass_with_row_log(i, stored);
    }
    const std::uint8_t* const changed = cache_.changed_cells(i);
    pass(i, changed == nullptr ? stored : std::span(changed, stored.size()));
  });
  pass_logged_before(config_.layers.chunk_count());
}

void CachedFilter::check_integrity() {
  current_filter();
  const bool totals_known = shape().kind == Kind::counting && !config_.has_merged_filter;
  CounterSumCheck check(shape());
  for_each_used_chunk([&](const auto& layer, auto first, auto count, auto cells) {
    const Shape& shape = layer.header.shape;
    if (first + count == shape.cells && (cells.back() & padding_mask(shape)) != 0) {
      throw SqliteError(SQLITE_CORRUPT_VTAB, "bits after the last cell are set");
    }
    if (totals_known) {
      check.add(first, count, cells.data());
    }
  });
  if (const auto wrong = check.finish()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the counters of block " + std::to_string(*wrong) +
                                               " do not add up to a number of keys");
  }
}

std::vector<Estimate> CachedFilter::estimates() {
  current_filter();
  std::vector<Estimator> estimators;
  for (const Layers::Layer& layer : config_.layers.all()) {
    estimators.emplace_back(layer.header.shape);
  }
  for_each_used_chunk([&](const auto& layer, auto first, auto count, auto cells) {
    estimators[config_.layers.index_of(layer)].add(first, count, cells.data());
  });
  std::vector<Estimate> estimates;
  estimates.reserve(estimators.size());
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    estimates.push_back(estimators[config_.layers.index_from_oldest(i)].finish());
  }
  return estimates;
}

Filter CachedFilter::read_filter() {
  Filter filter(layers().newest().header);
  std::uint8_t* const to = filter.cells();
  for_each_used_chunk([&](const auto& layer, auto first, auto, auto cells) {
    const Shape& shape = layer.header.shape;
    std::copy(cells.begin(), cells.end(), to + first * bits_per_cell(shape.kind) / 8);
  });
  if (has_change_log()) {
    change_log_.for_each_change(shape(), [&](bool added, std::optional<Hash> hash) {
      if (added) {
        filter.add(*hash);
      } else if (filter.shape().kind == Kind::counting) {
        filter.remove(*hash);
      }
    });
  }
  return filter;
}

}  // namespace bloom
