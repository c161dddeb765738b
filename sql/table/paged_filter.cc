#include "sql/table/paged_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <utility>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/operations/estimate.h"
#include "core/operations/fold.h"
#include "core/operations/integrity.h"
#include "core/operations/merge.h"
#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/table/halve_stored.h"

namespace bloom {

using sqlite::SqliteError;

// The scope of one change of the filter. If it ends without done(), the change is undone, except
// where a partial change is harmless: see Kind.
class PagedFilter::Change {
 public:
  enum class Kind {
    // A partial change may stay: surplus set cells lose no key.
    add,
    // A partial change would lose keys, or leave a command half done.
    other,
  };

  Change(PagedFilter& filter, Kind kind) : filter_(filter), kind_(kind) {
    if (!filter.transaction_.is_open()) {
      // An SQL function of the host can roll back while a statement runs.
      throw SqliteError(SQLITE_ABORT_ROLLBACK, "the transaction was rolled back meanwhile");
    }
    if (!filter.transaction_.all_savepoints_reported()) {
      filter.store_.announce_savepoints();
    }
    // The first key of a statement is often its only key. Writing it costs less than deciding how
    // to write.
    if (kind == Kind::other || filter.transaction_.has_written_a_key()) {
      filter.decide_write_mode();
    }
    if (!filter_.sqlite_reports_everything()) {
      filter_.check_cache();
    }
    filter_.loaded();
    writes_ = filter_.store_.writes();
    savepoint_ = filter_.transaction_.innermost_savepoint();
    filter_.rolled_back_to_.reset();
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  // A deferred change needs no undo here if its statement fails now: SQLite undoes the statement.
  ~Change() {
    if (done_ || is_undone()) {
      return;
    }
    // A statement that a function runs within the deferring one has no savepoint of its own.
    const bool deferred = filter_.is_deferring();
    if (deferred && filter_.store_.running_writers() <= 1) {
      return;
    }
    filter_.drop_cache();
    if (deferred || (kind_ == Kind::other && writes_ != filter_.store_.writes())) {
      filter_.must_roll_back_ = !filter_.store_.roll_back();
    }
  }

  // `counts`: SQLite will count this row of the statement in changes().
  void done(bool counts = true) {
    if (!filter_.is_deferring()) {
      filter_.write_deferred_changes();
      filter_.note_written(counts);
    }
    done_ = true;
  }

 private:
  // A statement that the change runs can have a savepoint of its own, because of triggers on a
  // shadow table. Undoing that savepoint undoes only a part of the change.
  bool is_undone() const {
    return filter_.rolled_back_to_ && *filter_.rolled_back_to_ <= savepoint_;
  }

  PagedFilter& filter_;
  Kind kind_;
  std::uint64_t writes_ = 0;
  int savepoint_ = -1;  // the innermost one when the change began
  bool done_ = false;
};

// Defers changes while it lives. Requires: it lives within one Change.
class PagedFilter::Deferral {
 public:
  explicit Deferral(PagedFilter& filter)
      : filter_(filter), before_(filter.transaction_.write_mode()) {
    filter.transaction_.set_write_mode(WriteMode::deferred);
    filter.connection_.deferring = &filter;
    filter.note_change();
  }
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;
  ~Deferral() {
    filter_.transaction_.set_write_mode(before_);
    if (before_ != WriteMode::deferred) {
      filter_.connection_.deferring = nullptr;
    }
  }

 private:
  PagedFilter& filter_;
  WriteMode before_;
};

PagedFilter::PagedFilter(sqlite3* db, std::string schema, std::string table,
                         std::uint64_t cache_bytes, const std::optional<Growth>& growth,
                         ConnectionState& connection)
    : store_(db, std::move(schema), std::move(table)),
      cache_(store_, cache_bytes),
      log_(db, store_.schema(), store_.table()),
      growth_(growth),
      transaction_(db),
      connection_(connection) {}

PagedFilter::~PagedFilter() {
  if (connection_.deferring == this) {
    connection_.deferring = nullptr;
  }
}

bool PagedFilter::must_be_shared(const std::string& schema, const std::string& table,
                                 bool grows) const {
  return !retired_ && transaction_.is_open() && transaction_.all_savepoints_reported() &&
         growth_.has_value() == grows && is_of(schema, table);
}

bool PagedFilter::is_of(const std::string& schema, const std::string& table) const {
  return sqlite3_stricmp(store_.schema().c_str(), schema.c_str()) == 0 &&
         sqlite3_stricmp(store_.table().c_str(), table.c_str()) == 0;
}

void PagedFilter::create(const Config& config, const std::function<void(const Add&)>& fill) {
  store_.create(config);
  transaction_.begin();
  if (fill) {
    Change change(*this, Change::Kind::add);
    fill_with(fill);
    change.done(false);
  }
  transaction_.created();
  must_check_lookups_ = true;
}

void PagedFilter::drop() {
  store_.drop();
  if (log_.exists()) {
    log_.drop();
  }
  drop_cache();
  retire();
}

// A rollback gives the table its old name back. SQLite makes new objects then, and after a rename
// of a table that is not part of the transaction.
void PagedFilter::rename(const std::string& table) {
  if (log_.exists()) {
    log_.rename(table);
  }
  store_.rename(table);
  if (transaction_.is_open()) {
    transaction_.note_renamed();
  } else {
    has_stale_name_ = true;
  }
}

// At this point the statement already has its write transaction. In autocommit mode the statement
// itself started the transaction, unless another statement is still writing.
void PagedFilter::begin() {
  if (transaction_.is_open()) {
    transaction_.begin();
    return;
  }
  const bool unchanged = store_.in_autocommit()
                             ? seen_epoch_ == connection_.epoch || store_.running_writers() <= 1
                             : last_check_.changes == store_.total_changes();
  const auto version = store_.data_version();
  if (!last_check_.is_committed || !unchanged || !version || version != last_check_.data_version ||
      store_.may_have_been_replaced()) {
    drop_cache();
  }
  transaction_.begin();
}

void PagedFilter::savepoint(int number) {
  write_deferred_changes();
  end_statement();
  if (!transaction_.all_savepoints_reported()) {
    drop_cache();
    note_change();
  }
  transaction_.savepoint(number);
}

void PagedFilter::released(int number) {
  write_deferred_changes();
  end_statement();
  transaction_.released(number);
}

void PagedFilter::rolled_back_to(int number) {
  if (!transaction_.rolled_back_to(number)) {
    return;
  }
  drop_cache();
  end_statement();
  if (transaction_.undoes_rename(number)) {
    note_stale_name();
  }
  rolled_back_to_ = std::min(number, rolled_back_to_.value_or(number));
  note_change();
}

// Our own commit changes the data version as well, but makes nothing in the cache stale. So the
// cache stays valid at the new version. With a shared cache that version may be of a commit that
// another thread has made since.
void PagedFilter::committed() {
  assert(!has_deferred_changes());
  end_transaction();
  last_check_.data_version = store_.data_version();
  last_check_.is_committed = last_check_.data_version.has_value() && !store_.shares_cache();
  last_check_.changes = store_.total_changes();
  last_check_.sees_uncommitted = false;
  must_check_lookups_ = true;
}

// If sqlite3_close() was refused, the transaction is still open. Pending changes are lost by then,
// so the transaction must be rolled back.
void PagedFilter::rolled_back() {
  const bool lost = has_deferred_changes() && store_.has_write_transaction();
  if (transaction_.undoes_rename()) {
    note_stale_name();
  }
  drop_cache();
  end_transaction();
  last_check_ = {};
  last_check_.changes = -1;  // the next lookup must check the cache
  must_check_lookups_ = true;
  rolled_back_to_ = -1;
  if (lost) {
    store_.roll_back();
  }
}

void PagedFilter::note_stale_name() {
  transaction_.forget_rename();
  has_stale_name_ = true;
  retire();
}

// The caller also passes the call that ends the statement on to transaction_.
void PagedFilter::end_statement() {
  assert(!has_deferred_changes());
  if (connection_.deferring == this) {
    connection_.deferring = nullptr;
  }
}

void PagedFilter::end_transaction() {
  end_statement();
  transaction_.end();
  newest_layer_fill_.forget_estimate();
  must_roll_back_ = false;
  note_change();
}

void PagedFilter::decide_write_mode() {
  if (transaction_.decide_write_mode(table())) {
    connection_.deferring = this;
    note_change();
  }
}

void PagedFilter::note_written(bool counts) {
  transaction_.note_written(counts);
  note_change();
}

void PagedFilter::write_deferred_changes() {
  if (deferred_count_ != 0) {
    apply_deferred_keys();
  }
  if (cache_.has_changes()) {
    cache_.flush();
    note_change();
  }
}

int PagedFilter::code_to_report(int code) {
  return std::exchange(must_roll_back_, false) ? SQLITE_IOERR : code;
}

// Other rows than those of the last check can be there only if one of these has changed.
void PagedFilter::check_lookup() {
  if (sqlite_reports_everything()) {
    seen_epoch_ = connection_.epoch;
    must_check_lookups_ = false;
    return;
  }
  const bool same_transaction =
      last_check_.is_committed || (last_check_.was_writing == store_.has_write_transaction() &&
                                   last_check_.changes == store_.total_changes());
  if (seen_epoch_ != connection_.epoch || !same_transaction || last_check_.sees_uncommitted ||
      same_table_has_deferred(connection_.deferring) || store_.sees_uncommitted()) {
    check_cache();
  }
  must_check_lookups_ = rows_may_change();
}

bool PagedFilter::rows_may_change() const {
  const PagedFilter* const other = connection_.deferring;
  return !last_check_.is_committed || last_check_.sees_uncommitted ||
         !store_.knows_read_uncommitted() ||
         (other != nullptr && other != this && other->is_of(schema(), table()));
}

void PagedFilter::check_cache() {
  if (has_deferred_changes()) {
    write_deferred_changes();
  }
  if (same_table_has_deferred(connection_.deferring)) {
    connection_.deferring->write_deferred_changes();
  }
  // In autocommit mode only a running statement can be writing. A rollback then takes back nothing
  // that is cached, if no row has changed since the last check. Asking SQLite takes 40 ns.
  const int changes = store_.total_changes();
  const bool unchanged = last_check_.is_committed && changes == last_check_.changes &&
                         seen_epoch_ == connection_.epoch;
  const bool may_be_writing = !unchanged || !store_.in_autocommit();
  const bool writing = may_be_writing && store_.has_write_transaction();
  const auto version = store_.data_version();
  const bool sees_uncommitted = store_.sees_uncommitted();
  if (!last_check_.is_committed || writing || !version || version != last_check_.data_version ||
      sees_uncommitted || store_.may_have_been_replaced()) {
    drop_cache();
  }
  last_check_ = {.is_committed = !writing && version && !sees_uncommitted,
                 .data_version = version,
                 .changes = changes,
                 .was_writing = writing,
                 .sees_uncommitted = sees_uncommitted};
  seen_epoch_ = connection_.epoch;
  must_check_lookups_ = rows_may_change();
}

void PagedFilter::drop_cache() {
  cache_.forget();
  log_.expire();
  deferred_count_ = 0;
  newest_layer_fill_.forget_estimate();
  is_loaded_ = false;
}

void PagedFilter::load() {
  if (has_stale_name_) {
    throw SqliteError(SQLITE_ABORT,
                      "the table was renamed while the statement ran (run the statement again)");
  }
  config_ = store_.load_config();
  if (growth_ && config_.layers.are_generations()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the config has generations, but the table grows");
  }
  filter_.emplace(config_.layers);
  cache_.reset(config_.layers);
  is_loaded_ = true;
}

bool PagedFilter::add(Hash hash) {
  Change change(*this, Change::Kind::add);
  const bool changed = add_or_grow(hash);
  change.done(changed);
  return changed;
}

void PagedFilter::apply_deferred_keys() {
  const auto hashes = std::span<const Hash>(deferred_keys_).first(deferred_count_);
  deferred_count_ = 0;
  filter_->add(hashes, cache_.all_chunks());
}

void PagedFilter::fill_with(const std::function<void(const Add&)>& fill) {
  const Deferral deferral(*this);
  fill([this](Hash hash) { add_while_deferring(hash); });
  loaded();
}

void PagedFilter::add_while_deferring(Hash hash) {
  if (!try_defer(hash)) {
    loaded();
    add_or_grow(hash);
  }
}

bool PagedFilter::add_or_grow(Hash hash) {
  if (!growth_) {
    return filter_->add(hash, cache_);
  }
  const bool added = filter_->add_if_absent(hash, cache_);
  if (added && newest_layer_fill_.is_full_after(hash, config_.layers.newest(), cache_)) {
    add_layer();
  }
  return added;
}

void PagedFilter::add_layer() {
  if (const auto next = next_layer(*growth_, config_.layers.headers())) {
    config_.layers.append(*next);
    store_.save_config(config_);
    filter_.emplace(config_.layers);
    cache_.extend(config_.layers);
  }
}

bool PagedFilter::remove(Hash hash) {
  Change change(*this, Change::Kind::other);
  const bool removed = filter_->remove(hash, cache_);
  change.done();
  return removed;
}

void PagedFilter::replace(Hash old_key, Hash new_key) {
  Change change(*this, Change::Kind::other);
  may_contain(new_key);  // detects most damage before anything is changed
  filter_->remove(old_key, cache_);
  filter_->add(new_key, cache_);
  change.done();
}

void PagedFilter::note_stale_key() {
  Change change(*this, Change::Kind::add);
  store_.note_stale_key();
  ++config_.stale;
  change.done();
}

void PagedFilter::mark_missed(const std::string& blocking_trigger) {
  Change change(*this, Change::Kind::add);
  config_.blocking_trigger = blocking_trigger;
  store_.save_config(config_);
  change.done();
}

void PagedFilter::merge_log() {
  Change change(*this, Change::Kind::other);
  std::uint64_t removed = 0;
  {
    const Deferral deferral(*this);
    const Shape shape = this->shape();  // a copy: a new layer moves the layers
    log_.for_each_change(shape, [&](bool added, Hash hash) {
      if (!added) {
        ++removed;
      }
      if (added) {
        add_while_deferring(hash);
      } else if (shape.kind == Kind::counting && !loaded().remove(hash, cache_)) {
        fail(
            "a key that left the source is not in the filter: filter and source are out of sync "
            "(the command 'rebuild' fixes that)");
      }
    });
    loaded();
  }
  log_.clear();
  if (removed != 0 && shape().kind != Kind::counting) {
    config_.stale += removed;
    store_.save_config(config_);
  }
  change.done();
}

// Requires: a Change is active, which undoes this on failure.
void PagedFilter::reset_to(const Config& config) {
  store_.reset_counts();
  store_.delete_chunks_from(0);
  store_.save_config(config);
  drop_cache();
  loaded();
}

void PagedFilter::rebuild(const Config& config, const std::function<void(const Add&)>& fill) {
  Change change(*this, Change::Kind::other);
  reset_to(config);
  fill_with(fill);
  // The statement may fail after this, when it makes the triggers, and its row is not counted then.
  change.done(false);
}

void PagedFilter::clear() {
  Change change(*this, Change::Kind::other);
  reset_to({.layers = config_.layers.are_generations() ? config_.layers
                                                       : Layers(config_.layers.oldest().header),
            .trigger_version = config_.trigger_version});
  change.done();
}

void PagedFilter::rotate() {
  Change change(*this, Change::Kind::other);
  write_deferred_changes();
  Config rotated = config_;
  rotated.layers.rotate();
  store_.delete_layer(rotated.layers, rotated.layers.newest_index());
  store_.save_config(rotated);
  drop_cache();
  change.done();
}

void PagedFilter::merge(const FilterView& filter, const InterruptCheck& check_interrupt) {
  constexpr std::uint64_t kChunks = kPieceBytes / kChunkBytes;
  Change change(*this, Change::Kind::other);
  check();
  const std::uint64_t first_chunk = config_.layers.newest().first_chunk;
  for_each_piece(chunk_count(shape()), kChunks, check_interrupt, [&](auto first, auto count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      merge_chunk(first_chunk + i, filter.cells() + i * kChunkBytes);
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
  const std::size_t size = config_.layers.chunk_bytes(i);
  if (std::any_of(from, from + size, [](std::uint8_t byte) { return byte != 0; })) {
    union_cells(shape().kind, cache_.at(i), from, size);
    cache_.mark_changed(i);
  }
}

void PagedFilter::halve() {
  Change change(*this, Change::Kind::other);
  check();
  halve_to(halved(layers().newest().header));
  change.done();
}

void PagedFilter::fold(double fpr) {
  Change change(*this, Change::Kind::other);
  check();
  const Header header = layers().newest().header;
  const unsigned times = times_foldable(header, estimates().front().keys, fpr);
  if (times > 0) {
    halve_to(folded(header, times, fpr));
  }
  change.done();
}

// Requires: a Change is active, which undoes this on failure. Halving shape() some times gives the
// shape of `goal`.
void PagedFilter::halve_to(const Header& goal) {
  write_deferred_changes();
  store_.reset_counts();
  for (Shape shape = this->shape(); shape != goal.shape; shape = halved(shape)) {
    halve_stored_chunks(store_, shape);
  }
  config_.counts_rows = true;
  config_.layers = Layers(goal);
  store_.save_config(config_);
  store_.count_only_layer();
  drop_cache();
}

template <typename F>
void PagedFilter::for_each_stored_chunk(F&& f) {
  loaded();
  store_.for_each_chunk(config_.layers, [&](std::uint64_t i, std::span<const std::uint8_t> stored) {
    const std::uint8_t* const changed = cache_.changed_cells(i);
    const auto cells = changed == nullptr ? stored : std::span(changed, stored.size());
    const Layers::Layer& layer = config_.layers.layer_of(i);
    const Shape& shape = layer.header.shape;
    const std::uint64_t chunk = i - layer.first_chunk;
    f(layer, chunk * cells_per_chunk(shape.kind), cells_in_chunk(shape, chunk), cells);
  });
}

void PagedFilter::check() {
  loaded();
  const bool totals_known = shape().kind == Kind::counting && !config_.merged;
  CounterSumCheck check(shape());
  for_each_stored_chunk([&](const auto& layer, auto first, auto count, auto cells) {
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

std::vector<Estimate> PagedFilter::estimates() {
  loaded();
  std::vector<Estimator> estimators;
  for (const Layers::Layer& layer : config_.layers.all()) {
    estimators.emplace_back(layer.header.shape);
  }
  for_each_stored_chunk([&](const auto& layer, auto first, auto count, auto cells) {
    estimators[config_.layers.index_of(layer)].add(first, count, cells.data());
  });
  std::vector<Estimate> estimates;
  estimates.reserve(estimators.size());
  for (std::size_t age = 0; age < estimators.size(); ++age) {
    estimates.push_back(estimators[config_.layers.index_of_age(age)].finish());
  }
  return estimates;
}

Filter PagedFilter::read_filter() {
  Filter filter(layers().newest().header);
  std::uint8_t* const to = filter.cells();
  for_each_stored_chunk([&](const auto& layer, auto first, auto, auto cells) {
    const Shape& shape = layer.header.shape;
    std::copy(cells.begin(), cells.end(), to + first * bits_per_cell(shape.kind) / 8);
  });
  if (has_log()) {
    log_.for_each_change(shape(), [&](bool added, Hash hash) {
      if (added) {
        filter.add(hash);
      } else if (filter.shape().kind == Kind::counting) {
        filter.remove(hash);
      }
    });
  }
  return filter;
}

}  // namespace bloom
