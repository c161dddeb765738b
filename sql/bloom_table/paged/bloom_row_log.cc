#include "sql/bloom_table/paged/bloom_row_log.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "core/support/bytes.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

constexpr std::size_t kAddedBytes = 2 * sizeof(std::uint64_t);
constexpr std::size_t kRemovedBytes = kAddedBytes + 1;  // the last byte has no meaning

// One chunk as ChunkedFilter sees it.
struct OneChunk {
  explicit OneChunk(std::uint8_t* chunk_cells) : cells(chunk_cells) {}
  std::uint8_t* at(std::uint64_t) const { return cells; }
  void mark_changed(std::uint64_t) const {}

  std::uint8_t* cells;
};

}  // namespace

// SQLite writes pages of the log to the WAL even after a merge has freed them. A merge costs little
// if SQLite caches the filter, so the log is then kept much smaller than the filter.
void BloomRowLog::reset(const Layers& layers) {
  constexpr std::size_t kFewest = 4096;
  constexpr std::size_t kMost = std::size_t{1} << 17U;
  constexpr std::size_t kChunksInCache = 512;  // 2 MB, as much as SQLite caches by default
  constexpr std::size_t kRowsPerCachedChunk = 32;
  constexpr std::size_t kRowsPerChunk = 64;
  keys_.clear();
  newest_of_.assign(static_cast<std::size_t>(layers.chunk_count()), kNone);
  const std::size_t rows =
      newest_of_.size() <= kChunksInCache ? kRowsPerCachedChunk : kRowsPerChunk;
  merge_at_ = std::clamp(newest_of_.size() * rows, kFewest, kMost);
}

void BloomRowLog::load(const Layers& layers, const LayeredFilter& filter, bool has_rows) {
  constexpr RowLog::Ids kNoIds{0, -1};
  const RowLog::Ids ids = has_rows ? log_.ids().value_or(kNoIds) : kNoIds;
  const bool is_empty = ids.last < ids.first;
  if (!is_empty && !is_possible(layers)) {
    throw_damaged("a filter of this size has no row log");
  }
  constexpr std::int64_t kMostIds = std::int64_t{1} << 62;
  if (ids.last > kMostIds || ids.first < -kMostIds) {
    throw_damaged("the row log has other ids than this extension gives");
  }
  may_have_new_rows_ |= has_rows;
  const auto last = [&] { return first_id_ + static_cast<std::int64_t>(keys_.size()) - 1; };
  if (copy_ == Copy::may_have_more && !is_empty && ids.first == first_id_ && ids.last <= last()) {
    while (last() > ids.last) {
      pop();
    }
  } else {
    copy_ = Copy::unknown;
    keys_.clear();
    newest_of_.clear();
    if (!is_empty) {
      first_id_ = ids.first;
      reset(layers);
      read(filter, layers.newest().header.shape.kind);
    }
  }
  copy_ = Copy::known;
}

bool BloomRowLog::is_current() const {
  assert(is_known());
  const auto ids = log_.ids();
  return ids ? ids->first == first_id_ &&
                   ids->last == first_id_ + static_cast<std::int64_t>(keys_.size()) - 1
             : keys_.empty();
}

void BloomRowLog::read(const LayeredFilter& filter, Kind kind) {
  log_.for_each([&](std::int64_t id, std::span<const std::uint8_t> row) {
    if (id != first_id_ + static_cast<std::int64_t>(keys_.size()) ||
        (row.size() != kAddedBytes && (row.size() != kRemovedBytes || kind != Kind::counting))) {
      throw_damaged("the row log lacks rows, or has rows of another form");
    }
    const Hash hash{load_le<std::uint64_t>(row.data()),
                    load_le<std::uint64_t>(row.data() + sizeof(std::uint64_t))};
    const Placement place = filter.placement_of(hash);
    if (place.chunk >= newest_of_.size()) {
      throw_damaged("the row log has keys that are not in one chunk");
    }
    push(place.chunk, hash, row.size() == kRemovedBytes);
  });
}

void BloomRowLog::push(std::uint64_t chunk, Hash hash, bool is_removal) {
  std::uint32_t& newest = newest_of_[static_cast<std::size_t>(chunk)];
  keys_.push_back({hash, static_cast<std::uint32_t>(2 * chunk + (is_removal ? 1 : 0)), newest});
  newest = static_cast<std::uint32_t>(keys_.size() - 1);
}

void BloomRowLog::pop() {
  newest_of_[keys_.back().chunk_and_kind / 2] = keys_.back().before;
  keys_.pop_back();
}

// The copy gets the row first: a removal must not be in the log after it has failed.
void BloomRowLog::append(const Layers& layers, std::uint64_t chunk, Hash hash, bool is_removal) {
  if (keys_.empty()) {
    first_id_ = RowLog::first_id();
    if (newest_of_.size() != layers.chunk_count()) {
      reset(layers);
    }
  }
  std::array<std::uint8_t, kRemovedBytes> row{};
  store_le(row.data(), hash.h1);
  store_le(row.data() + sizeof(std::uint64_t), hash.h2);
  push(chunk, hash, is_removal);
  may_have_new_rows_ = true;
  // SQLite finds the next id itself in less time.
  const bool is_first = keys_.size() == 1;
  const std::int64_t id =
      log_.append(std::span(row).first(is_removal ? kRemovedBytes : kAddedBytes),
                  is_first ? std::optional(first_id_) : std::nullopt);
  if (id != first_id_ + static_cast<std::int64_t>(keys_.size()) - 1) {
    throw_damaged("the row log has rows that this extension has not written");
  }
}

void BloomRowLog::apply(const LayeredFilter& filter, std::uint64_t i, std::uint8_t* cells) const {
  if (!has_changes_of(i)) {
    return;
  }
  CountedVector<std::uint32_t> rows;
  for (std::uint32_t row = newest_of_[static_cast<std::size_t>(i)]; row != kNone;
       row = keys_[row].before) {
    rows.push_back(row);
  }
  std::reverse(rows.begin(), rows.end());
  OneChunk chunk(cells);
  for (const std::uint32_t row : rows) {
    const Key& key = keys_[row];
    key.chunk_and_kind % 2 == 0 ? filter.add(key.hash, chunk) : filter.remove(key.hash, chunk);
  }
}

CountedVector<std::uint64_t> BloomRowLog::chunks() const {
  CountedVector<std::uint64_t> chunks;
  for (std::uint64_t i = 0; !empty() && i < newest_of_.size(); ++i) {
    if (has_changes_of(i)) {
      chunks.push_back(i);
    }
  }
  return chunks;
}

void BloomRowLog::clear() {
  log_.clear();
  keys_.clear();
  std::fill(newest_of_.begin(), newest_of_.end(), kNone);
}

}  // namespace bloom
