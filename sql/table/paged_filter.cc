#include "sql/table/paged_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/cells.h"
#include "core/estimate.h"
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
    if (!filter.in_transaction_) {
      // SQL functions of the host can roll back while a statement runs.
      throw SqliteError(SQLITE_ABORT_ROLLBACK, "the transaction was rolled back meanwhile");
    }
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
                         std::uint64_t cache_bytes, const std::optional<Growth>& growth)
    : store_(db, std::move(schema), std::move(table)),
      cache_(store_, cache_bytes),
      growth_(growth) {}

bool PagedFilter::is_changing(const std::string& schema, const std::string& table,
                              bool grows) const {
  return !retired_ && in_transaction_ && knows_savepoints_ && growth_.has_value() == grows &&
         is_of(schema, table);
}

bool PagedFilter::is_of(const std::string& schema, const std::string& table) const {
  return sqlite3_stricmp(store_.schema().c_str(), schema.c_str()) == 0 &&
         sqlite3_stricmp(store_.table().c_str(), table.c_str()) == 0;
}

// SQLite does not tell of anything before the first change after this: nothing may be left to
// write.
void PagedFilter::create(const Header& header, const std::function<void(const Add&)>& fill) {
  store_.create({.layers = {header}, .stale = 0, .merged = false});
  in_transaction_ = true;
  if (fill) {
    Change change(*this);
    fill_with(fill);
    write_changes();
    change.done();
  }
  knows_savepoints_ = false;
}

void PagedFilter::drop() {
  store_.drop();
  forget();
  retire();
}

void PagedFilter::rename(const std::string& table) { store_.rename(table); }

void PagedFilter::begin() {
  notice_commits();
  in_transaction_ = true;
}

void PagedFilter::write_changes() {
  require_whole();
  if (waiting_count_ != 0) {
    add_waiting();
  }
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
  room_ = 0;
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
  if (!in_transaction_ && (version_ != store_.data_version() || store_.has_read_uncommitted())) {
    forget();
    version_ = store_.data_version();
  }
}

void PagedFilter::forget() {
  cache_.forget();
  waiting_count_ = 0;
  room_ = 0;
  is_loaded_ = false;
}

void PagedFilter::load() {
  require_whole();
  config_ = store_.load_config();
  layers_ = Layers(config_.layers);
  cache_.reset(layers_);
  filter_.emplace(layers_);
  is_loaded_ = true;
}

bool PagedFilter::add(Hash hash) {
  Change change(*this);
  const bool changed = add_key(hash);
  change.done();
  return changed;
}

void PagedFilter::add_waiting() {
  const auto hashes = std::span<const Hash>(waiting_).first(waiting_count_);
  waiting_count_ = 0;
  if (std::uint8_t* const chunks = cache_.array()) {
    filter_->add(hashes, chunks);
    return;
  }
  for (Hash hash : hashes) {
    filter_->add(hash, cache_);
  }
}

// For a Change that is under way.
void PagedFilter::fill_with(const std::function<void(const Add&)>& fill) {
  fill([this](Hash hash) {
    if (can_wait(hash)) {
      wait(hash);
    } else {
      loaded();
      add_key(hash);
    }
  });
  loaded();
}

bool PagedFilter::add_key(Hash hash) {
  if (!growth_) {
    return filter_->add(hash, cache_);
  }
  const bool added = !filter_->may_contain(hash, cache_) && filter_->add(hash, cache_);
  if (added) {
    grow_if_full(hash);
  }
  return added;
}

// How full the newest layer is, is written nowhere: it would cost every transaction a page. Its
// cells tell, and are looked at once for some 1/256 of its keys, by whichever connection adds the
// key with such a hash, or four times as many others: somebody may have chosen them. Within a
// transaction nobody else adds any, so that it need not be looked again until half of the room that
// there was is used.
void PagedFilter::grow_if_full(Hash hash) {
  constexpr std::uint64_t kLooks = 256;
  const std::uint64_t capacity = layers_.newest().header.capacity;
  const std::uint64_t mask = std::bit_floor(std::max<std::uint64_t>(1, capacity / kLooks)) - 1;
  if (room_ > 0) {
    --room_;
    return;
  }
  if ((hash.h1 & mask) != 0 && ++not_looked_ <= 4 * mask) {
    return;
  }
  not_looked_ = 0;
  const double room = static_cast<double>(capacity) - keys_in_newest();
  if (room > 0) {
    room_ = static_cast<std::uint64_t>(room / 2);
    return;
  }
  if (const auto next = next_layer(*growth_, config_.layers)) {
    config_.layers.push_back(*next);
    store_.save_config(config_);
    layers_ = Layers(config_.layers);
    cache_.extend(layers_);
    filter_.emplace(layers_);
  }
}

// From at most 64 of its chunks: 0.3 % off, since each has room for some 2,000 keys.
double PagedFilter::keys_in_newest() {
  constexpr std::uint64_t kSample = 64;
  const auto& [header, first_chunk] = layers_.newest();
  const Shape& shape = header.shape;
  const std::uint64_t chunks = chunk_count(shape);
  const std::uint64_t sample = std::min(chunks, kSample);
  std::uint64_t used = 0;
  std::uint64_t cells = 0;
  for (std::uint64_t i = 0; i < sample; ++i) {
    const std::uint64_t chunk = i * chunks / sample;
    const std::uint64_t count = cells_in_chunk(shape, chunk);
    used += count_used(shape.kind, cache_.at(first_chunk + chunk), 0, count);
    cells += count;
  }
  return keys_for(static_cast<double>(used), static_cast<double>(cells), shape.hashes) *
         static_cast<double>(shape.cells) / static_cast<double>(cells);
}

bool PagedFilter::remove(Hash hash) {
  Change change(*this);
  const bool removed = filter_->remove(hash, cache_);
  change.done();
  return removed;
}

void PagedFilter::replace(Hash old_key, Hash new_key) {
  Change change(*this);
  may_contain(new_key);  // finds most of what may be wrong before anything is changed
  filter_->remove(old_key, cache_);
  filter_->add(new_key, cache_);
  change.done();
}

void PagedFilter::count_stale() {
  Change change(*this);
  store_.count_stale();
  ++config_.stale;
  change.done();
}

// Only while a Change can undo it.
void PagedFilter::use(const Config& config) {
  store_.delete_chunks_from(0);
  store_.save_config(config);
  forget();
  loaded();
}

void PagedFilter::remake(const Header& header, const std::function<void(const Add&)>& fill) {
  Change change(*this);
  use({.layers = {header}, .stale = 0, .merged = false});
  fill_with(fill);
  change.done();
}

void PagedFilter::clear() {
  Change change(*this);
  use({.layers = {config_.layers.front()}, .stale = 0, .merged = false});
  change.done();
}

void PagedFilter::merge(const FilterView& filter, const Pause& pause) {
  constexpr std::uint64_t kChunks = kSliceBytes / kChunkBytes;
  Change change(*this);
  check();
  for_each_slice(chunk_count(shape()), kChunks, pause, [&](auto first, auto count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      merge_chunk(i, filter.cells() + i * kChunkBytes);
    }
  });
  const Kind kind = shape().kind;
  if (kind == Kind::counting && !config_.merged) {
    config_.merged = true;
    store_.save_config(config_);
  }
  change.done();
}

void PagedFilter::merge_chunk(std::uint64_t i, const std::uint8_t* from) {
  const std::size_t size = chunk_bytes(shape(), i);
  if (std::any_of(from, from + size, [](std::uint8_t byte) { return byte != 0; })) {
    unite_cells(shape().kind, cache_.at(i), from, size);
    cache_.changed(i);
  }
}

void PagedFilter::halve() {
  Change change(*this);
  check();
  const Header half = halved(layers_.newest().header);
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
  config_.layers = {half};
  store_.save_config(config_);
  forget();
  change.done();
}

template <typename F>
void PagedFilter::for_each_run(F&& f) {
  loaded();
  write_changes();
  store_.for_each_chunk(layers_, [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    const Layers::Layer& layer = layers_.layer_of(i);
    const Shape& shape = layer.header.shape;
    const std::uint64_t chunk = i - layer.first_chunk;
    f(layer, chunk * chunk_cells(shape.kind), cells_in_chunk(shape, chunk), cells);
  });
}

void PagedFilter::check() {
  loaded();
  const bool totals_known = shape().kind == Kind::counting && !config_.merged;
  CounterTotals totals(shape());
  for_each_run([&](const auto& layer, auto first, auto count, auto cells) {
    const Shape& shape = layer.header.shape;
    if (first + count == shape.cells && (cells.back() & stray_bits(shape)) != 0) {
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

std::vector<Estimate> PagedFilter::estimates() {
  loaded();
  std::vector<Estimator> estimators;
  for (const Header& header : config_.layers) {
    estimators.emplace_back(header.shape);
  }
  for_each_run([&](const auto& layer, auto first, auto count, auto cells) {
    estimators[static_cast<std::size_t>(&layer - layers_.all().data())].add(first, count,
                                                                            cells.data());
  });
  std::vector<Estimate> estimates;
  estimates.reserve(estimators.size());
  for (Estimator& estimator : estimators) {
    estimates.push_back(estimator.finish());
  }
  return estimates;
}

Filter PagedFilter::whole() {
  Filter whole(layers().newest().header);
  std::uint8_t* const to = whole.cells();
  for_each_run([&](const auto& layer, auto first, auto, auto cells) {
    const Shape& shape = layer.header.shape;
    std::copy(cells.begin(), cells.end(), to + first * bits_per_cell(shape.kind) / 8);
  });
  return whole;
}

PagedFilters::Use PagedFilters::of(sqlite3* db, const std::string& schema, const std::string& table,
                                   std::uint64_t cache_bytes, const std::optional<Growth>& growth) {
  for (Used& used : filters_) {
    if (used.filter->is_changing(schema, table, growth.has_value())) {
      return use(used);
    }
  }
  return add(db, schema, table, cache_bytes, growth);
}

PagedFilters::Use PagedFilters::create(sqlite3* db, const std::string& schema,
                                       const std::string& table, std::uint64_t cache_bytes,
                                       const std::optional<Growth>& growth) {
  Use created = add(db, schema, table, cache_bytes, growth);
  retire_others(*created, table);
  return created;
}

void PagedFilters::retire_others(const PagedFilter& filter, const std::string& table) {
  for (const Used& used : filters_) {
    if (used.filter.get() != &filter && used.filter->is_of(filter.schema(), table)) {
      used.filter->retire();
    }
  }
}

PagedFilters::Use PagedFilters::add(sqlite3* db, const std::string& schema,
                                    const std::string& table, std::uint64_t cache_bytes,
                                    const std::optional<Growth>& growth) {
  filters_.push_back({std::make_unique<PagedFilter>(db, schema, table, cache_bytes, growth)});
  return use(filters_.back());
}

PagedFilters::Use PagedFilters::use(Used& used) {
  ++used.users;
  return {used.filter.get(), {this}};
}

void PagedFilters::end_use(PagedFilter* filter) {
  const auto used = std::find_if(filters_.begin(), filters_.end(),
                                 [&](const Used& one) { return one.filter.get() == filter; });
  if (--used->users == 0) {
    filters_.erase(used);
  }
}

}  // namespace bloom
