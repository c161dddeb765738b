#include "sql/table/paged_filter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cells.h"
#include "core/merge.h"
#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

[[noreturn]] void damaged(const std::string& text) { throw SqliteError(SQLITE_CORRUPT_VTAB, text); }

// The stored chunks of a filter, one at hand.
class StoredChunks {
 public:
  StoredChunks(Store& store, const Shape& shape) : store_(store), shape_(shape) {}

  // Good until the next call; null if there is no row.
  const std::uint8_t* read(std::uint64_t i) {
    if (at_hand_ != i) {
      at_hand_.reset();
      stored_ = store_.load_chunk(i, std::span(cells_).first(chunk_bytes(shape_, i)));
      at_hand_ = i;
    }
    return stored_ ? cells_.data() : nullptr;
  }

  // Puts chunk i of a filter of another shape in its place.
  void replace(std::uint64_t i, std::span<const std::uint8_t> cells) {
    erase(i);
    store_.insert_chunk(i, cells);
  }
  void erase(std::uint64_t i) {
    if (read(i) != nullptr) {
      store_.delete_chunk(i);
      at_hand_.reset();
    }
  }

 private:
  Store& store_;
  Shape shape_;
  std::array<std::uint8_t, kChunkBytes> cells_{};
  std::optional<std::uint64_t> at_hand_;
  bool stored_ = false;
};

}  // namespace

// A change of the filter: all of it or, if it ends without done(), nothing. A statement on the
// shadow tables that fails for want of memory or disk may have rolled the transaction back already.
class PagedFilter::Change {
 public:
  explicit Change(PagedFilter& filter) : filter_(filter) {
    if (!filter.knows_savepoints_) {
      filter.store_.announce_savepoints();
      filter.knows_savepoints_ = true;
    }
    filter_.loaded();
    writes_ = writes();
    rollbacks_ = filter_.rollbacks_;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  ~Change() {
    if (!done_ && writes_ != writes()) {
      filter_.forget();
      filter_.broken_ = rollbacks_ == filter_.rollbacks_;
    }
  }

  void done() { done_ = true; }

 private:
  std::uint64_t writes() const { return filter_.cache_.changes() + filter_.store_.writes(); }

  PagedFilter& filter_;
  std::uint64_t writes_ = 0;
  std::uint64_t rollbacks_ = 0;
  bool done_ = false;
};

PagedFilter::PagedFilter(sqlite3* db, std::string schema, std::string table,
                         std::uint64_t cache_bytes)
    : store_(db, std::move(schema), std::move(table)), cache_(store_, cache_bytes) {}

bool PagedFilter::is_changing(const std::string& schema, const std::string& table) const {
  return in_transaction_ && sqlite3_stricmp(store_.schema().c_str(), schema.c_str()) == 0 &&
         sqlite3_stricmp(store_.table().c_str(), table.c_str()) == 0;
}

void PagedFilter::create(const Header& header) {
  store_.create({.header = header, .merged = false});
  in_transaction_ = true;
  knows_savepoints_ = false;
}

void PagedFilter::drop() {
  store_.drop();
  forget();
}

void PagedFilter::rename(const std::string& table) { store_.rename(table); }

void PagedFilter::begin() {
  notice_commits();
  in_transaction_ = true;
}

void PagedFilter::write_changes() {
  require_whole();
  cache_.flush();
}

// A savepoint that cannot be made is rolled back at once: there is nothing after it, and the
// changes before it are still only here.
void PagedFilter::savepoint(int number) {
  failed_savepoint_ = number;
  write_changes();
  failed_savepoint_.reset();
}

void PagedFilter::rolled_back_to(int number) {
  if (!failed_savepoint_ || number < *failed_savepoint_) {
    rolled_back_state();
  }
}

// Its own commit changes the data version, too, and makes nothing in the cache old.
void PagedFilter::committed() {
  in_transaction_ = false;
  failed_savepoint_.reset();
  version_ = store_.data_version();
}

void PagedFilter::rolled_back() {
  in_transaction_ = false;
  rolled_back_state();
}

void PagedFilter::rolled_back_state() {
  forget();
  failed_savepoint_.reset();
  broken_ = false;
  ++rollbacks_;
}

void PagedFilter::require_whole() const {
  if (broken_) {
    throw SqliteError(SQLITE_ABORT,
                      "a statement failed halfway, so the transaction must be rolled back");
  }
}

void PagedFilter::notice_commits() {
  if (!in_transaction_ && version_ != store_.data_version()) {
    forget();
    version_ = store_.data_version();
  }
}

void PagedFilter::forget() {
  cache_.forget();
  is_loaded_ = false;
}

void PagedFilter::load() {
  require_whole();
  config_ = store_.load_config();
  cache_.reset(config_.header.shape);
  filter_.emplace(config_.header.shape);
  is_loaded_ = true;
}

const Header& PagedFilter::header() {
  loaded();
  return config_.header;
}

bool PagedFilter::add(const Hash& hash) {
  Change change(*this);
  const bool changed = filter_->add(hash, cache_);
  change.done();
  return changed;
}

bool PagedFilter::remove(const Hash& hash) {
  Change change(*this);
  const bool removed = filter_->remove(hash, cache_);
  change.done();
  return removed;
}

void PagedFilter::replace(const Hash& old_key, const Hash& new_key) {
  Change change(*this);
  may_contain(new_key);  // finds most of what may be wrong before anything is changed
  filter_->remove(old_key, cache_);
  filter_->add(new_key, cache_);
  change.done();
}

void PagedFilter::merge(const FilterView& filter) {
  Change change(*this);
  check();
  const Kind kind = shape().kind;
  for (std::uint64_t i = 0; i < chunk_count(shape()); ++i) {
    const std::size_t size = chunk_bytes(shape(), i);
    const std::uint8_t* from = filter.cells() + i * kChunkBytes;
    if (std::any_of(from, from + size, [](std::uint8_t byte) { return byte != 0; })) {
      unite_cells(kind, cache_.at(i), from, size);
      cache_.changed(i);
    }
  }
  if (kind == Kind::counting && !config_.merged) {
    config_.merged = true;
    store_.save_config(config_);
  }
  change.done();
}

void PagedFilter::clear() {
  Change change(*this);
  store_.delete_chunks_from(0);
  cache_.forget();
  if (config_.merged) {
    config_.merged = false;
    store_.save_config(config_);
  }
  change.done();
}

void PagedFilter::halve() {
  Change change(*this);
  check();
  const Header half = halved(header());
  StoredChunks chunks(store_, shape());
  std::array<std::uint8_t, kChunkBytes> folded{};
  for (std::uint64_t i = 0; i < chunk_count(half.shape); ++i) {
    folded.fill(0);
    if (fold_chunk(
            shape(), i, [&](auto j) { return chunks.read(j); }, folded.data())) {
      chunks.replace(i, std::span(folded).first(chunk_bytes(half.shape, i)));
    } else {
      chunks.erase(i);
    }
  }
  store_.delete_chunks_from(chunk_count(half.shape));
  store_.save_config({.header = half, .merged = config_.merged});
  forget();
  change.done();
}

template <typename F>
void PagedFilter::for_each_run(F&& f) {
  loaded();
  write_changes();
  const std::uint64_t per_chunk = chunk_cells(shape().kind);
  store_.for_each_chunk(shape(), [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    f(i * per_chunk, cells);
  });
}

void PagedFilter::check() {
  CounterTotals totals(shape());
  const bool totals_known = shape().kind == Kind::counting && !config_.merged;
  for_each_run([&](std::uint64_t first, std::span<const std::uint8_t> cells) {
    const std::uint64_t count = std::min(chunk_cells(shape().kind), shape().cells - first);
    if (first + count == shape().cells && has_stray_bits(shape(), cells.back())) {
      damaged("bits after the last cell are set");
    }
    if (totals_known) {
      totals.add(first, count, cells.data());
    }
  });
  if (const auto wrong = totals.finish()) {
    damaged("the counters of block " + std::to_string(*wrong) +
            " do not add up to a number of keys");
  }
}

Estimate PagedFilter::estimate() {
  Estimator estimator(shape());
  for_each_run([&](std::uint64_t first, std::span<const std::uint8_t> cells) {
    const std::uint64_t count = std::min(chunk_cells(shape().kind), shape().cells - first);
    estimator.add(first, count, cells.data());
  });
  return estimator.finish();
}

Filter PagedFilter::whole() {
  Filter whole(header());
  std::uint8_t* const to = whole.cells();
  for_each_run([&](std::uint64_t first, std::span<const std::uint8_t> cells) {
    std::copy(cells.begin(), cells.end(), to + first * bits_per_cell(shape().kind) / 8);
  });
  return whole;
}

std::shared_ptr<PagedFilter> PagedFilters::of(sqlite3* db, const std::string& schema,
                                              const std::string& table, std::uint64_t cache_bytes) {
  std::erase_if(filters_, [](const auto& filter) { return filter.expired(); });
  for (const auto& weak : filters_) {
    if (auto filter = weak.lock(); filter->is_changing(schema, table)) {
      return filter;
    }
  }
  auto filter = std::make_shared<PagedFilter>(db, schema, table, cache_bytes);
  filters_.push_back(filter);
  return filter;
}

}  // namespace bloom
