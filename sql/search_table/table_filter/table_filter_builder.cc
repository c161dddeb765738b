#include "sql/search_table/table_filter/table_filter_builder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/layout/chunk_layout.h"
#include "core/sizing/sizing.h"
#include "sql/sqlite/connection.h"

namespace bloom {
namespace {

// With 10 % more capacity than keys, the filter has at most 12 bits per key.
constexpr double kFpr = 0.01;
constexpr double kRoom = 1.1;
constexpr std::uint64_t kLeastCapacity = 1024;
constexpr std::size_t kKeysAtOnce = 8192;
// 16 MiB. More new keys than that are added by making the filter again.
constexpr std::size_t kMostCollected = std::size_t{1} << 20U;
// 64 MiB, for 50 million keys. Each further window reads the rows once more.
constexpr std::uint64_t kWindowChunks = (std::uint64_t{1} << 26U) / kChunkBytes;

bool is_overfull(const TableFilterConfig& config) {
  return config.keys > config.header.capacity + config.header.capacity / 2;
}

}  // namespace

struct TableFilterBuilder::Window {
  explicit Window(const Shape& shape) : filter(shape) {}

  ChunkedFilter filter;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  OwnedBytes cells;
};

TableFilterBuilder::TableFilterBuilder(TableFilterStore& store, const SearchSource& source,
                                       TableFilterConfig& config)
    : store_(store), source_(source), config_(config), is_utf8_(source.is_utf8()) {}

bool TableFilterBuilder::add_row(std::int64_t, const sqlite::Values& values) {
  for (int i = 0; i < values.size(); ++i) {
    append_keys(columns_[static_cast<std::size_t>(i)], values[i], is_utf8_, keys_);
  }
  if (keys_.size() >= kKeysAtOnce) {
    take_keys();
  }
  return collected_.size() <= kMostCollected;
}

void TableFilterBuilder::take_keys() {
  for (const SearchKey key : keys_.keys()) {
    const Hash hash = hash_of(key);
    if (counted_) {
      counted_->add(hash);
    } else if (window_ == nullptr) {
      collected_.push_back(hash);
    } else if (const Placement place = window_->filter.placement_of(hash);
               place.chunk >= window_->first && place.chunk < window_->end) {
      window_->filter.array_filter().add(
          hash, window_->cells.get() + as_size(place.chunk - window_->first) * kChunkBytes,
          place.first_cell);
    }
  }
  keys_.clear();
}

void TableFilterBuilder::read(const RowidRanges& rows) {
  std::vector<std::size_t> items;
  for (const KeyRule& column : columns_) {
    items.push_back(column.item);
  }
  RowFeed feed(source_, items);
  const auto outcome = sqlite::Outcome::of([&] {
    for (const RowidRange range : rows) {
      if (!feed.read(range, *this)) {
        return;
      }
    }
  });
  feed.require_undisturbed();
  outcome.throw_failure();
  take_keys();
}

void TableFilterBuilder::build(std::vector<KeyRule> columns, std::int64_t covered) {
  columns_ = std::move(columns);
  const RowidRanges rows = {{kLowestRowid, covered}};
  collected_.clear();
  counted_.emplace();
  read(rows);
  const auto keys = static_cast<std::uint64_t>(counted_->estimate());
  counted_.reset();
  const auto capacity = static_cast<std::uint64_t>(static_cast<double>(keys) * kRoom);
  config_ = {size_filter(std::max(capacity, kLeastCapacity), kFpr, Kind::standard), keys,
             TableFilterConfig::describe(columns_)};
  store_.clear();
  const Shape& shape = config_.header.shape;
  const std::uint64_t chunks = chunk_count(shape);
  Window window(shape);
  window_ = &window;
  for (; window.first < chunks; window.first = window.end) {
    window.end = std::min(chunks, window.first + kWindowChunks);
    window.cells = zeroed_bytes((window.end - window.first) * kChunkBytes, Access::dense);
    read(rows);
    const sqlite::KeepLastRowid keep(source_.db());
    for (std::uint64_t i = window.first; i < window.end; ++i) {
      store_.write(
          i, {window.cells.get() + as_size(i - window.first) * kChunkBytes, chunk_bytes(shape, i)});
    }
  }
  window_ = nullptr;
}

bool TableFilterBuilder::add(std::vector<KeyRule> columns, const RowidRanges& rows) {
  columns_ = std::move(columns);
  read(rows);
  return collected_.size() <= kMostCollected && add_collected();
}

// Reads and writes each chunk once.
bool TableFilterBuilder::add_collected() {
  const Shape& shape = config_.header.shape;
  const ChunkedFilter filter(shape);
  const auto chunk_of = [&](Hash hash) { return filter.placement_of(hash).chunk; };
  std::sort(collected_.begin(), collected_.end(),
            [&](Hash a, Hash b) { return chunk_of(a) < chunk_of(b); });
  const sqlite::KeepLastRowid keep(source_.db());
  std::array<std::uint8_t, kChunkBytes> cells;
  for (auto hash = collected_.begin(); hash != collected_.end() && !is_overfull(config_);) {
    const std::uint64_t chunk = chunk_of(*hash);
    const std::span own(cells.data(), chunk_bytes(shape, chunk));
    store_.read(chunk, own);
    std::uint64_t added = 0;
    for (; hash != collected_.end() && chunk_of(*hash) == chunk; ++hash) {
      const Placement place = filter.placement_of(*hash);
      added += filter.array_filter().add(*hash, cells.data(), place.first_cell) ? 1 : 0;
    }
    if (added != 0) {
      store_.write(chunk, own);
      config_.keys += added;
    }
  }
  return !is_overfull(config_);
}

}  // namespace bloom
