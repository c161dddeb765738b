#include "sql/group_table/group_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/filter/bit_sliced.h"
#include "sql/sqlite/guard.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

constexpr std::size_t kMaxCachedSlots = std::size_t{1} << 16U;
constexpr std::size_t kLongestCachedMember = 256;  // bytes

// Returns the type and the bytes of a member, as the key of GroupWriter::Cache::slots. Returns ""
// if the member is too long to be cached.
CountedString cache_key(const sqlite::Value& member) {
  const Key bytes(member, /*as_stored=*/true);
  CountedString name;
  if (bytes.bytes().size() <= kLongestCachedMember) {
    name.append(1, static_cast<char>('0' + member.type())).append(bytes.bytes());
  }
  return name;
}

}  // namespace

void GroupWriter::refresh_cache(int changes) {
  if (cache_ && cache_->changes_after_row == changes) {
    cache_->changes = changes;
  } else {
    cache_ = {.changes = changes, .config = store_.load_config(), .slots = {}};
    row_log_may_have_rows_ |= cache_->config.row_log_has_rows;
  }
}

std::optional<std::uint64_t> GroupWriter::find(const sqlite::Value& member) {
  const Cache& known = cache();
  const auto found = known.slots.find(cache_key(member));
  if (found != known.slots.end()) {
    return found->second;
  }
  const auto slot = store_.members().slot_of(known.config, member);
  if (slot) {
    remember(member, *slot);
  }
  return slot;
}

std::uint64_t GroupWriter::add_member(const sqlite::Value& member) {
  GroupConfig now = config();
  const std::uint64_t slot = store_.add_member(member, now);
  remember(member, slot);
  return slot;
}

void GroupWriter::remember(const sqlite::Value& member, std::uint64_t slot) {
  auto& slots = cache().slots;
  if (slots.size() >= kMaxCachedSlots) {
    slots.clear();
  }
  if (CountedString name = cache_key(member); !name.empty()) {
    slots.insert_or_assign(std::move(name), slot);
  }
}

// The first keys of a statement are often its only ones. Writing them costs less than deciding how
// to write.
void GroupWriter::add(std::uint64_t slot, Hash hash, bool may_use_row_log) {
  constexpr int kFewKeysOfStatement = 16;
  const bool uses_row_log = may_use_row_log && can_use_row_log();
  if (transaction_.changes_written() >= (uses_row_log ? kFewKeysOfStatement : 1)) {
    transaction_.decide_write_mode(store_.tables().table());
  }
  const BitSlicedFilters filters(config().header.shape);
  SlotKey key{filters.chunk_of(hash), slot, hash};
  if (transaction_.is_deferring()) {
    return defer(key);
  }
  uses_row_log ? append_to_row_log(key) : write(config(), {&key, 1});
  ++keys_in_transaction_;
  transaction_.count_written_change(true);
}

// A transaction of fewer keys writes them at once, which costs less than a row log. In an
// autocommit transaction the statement ends with a commit.
bool GroupWriter::can_use_row_log() {
  constexpr int kFewKeys = 8;
  return keys_in_transaction_ >= kFewKeys && transaction_.is_open() &&
         transaction_.all_savepoints_reported() && !transaction_.is_deferring() &&
         sqlite3_get_autocommit(db_) == 0 && config().has_row_log;
}

void GroupWriter::append_to_row_log(const SlotKey& key) {
  constexpr std::size_t kMostRows = std::size_t{1} << 15U;  // 1 MiB, so that SQLite caches them
  const auto outcome = sqlite::Outcome::of([&] {
    GroupConfig& config = cache().config;
    if (!config.row_log_has_rows) {
      config.row_log_has_rows = true;
      store_.save_version(config);
    }
    row_log_may_have_rows_ = true;
    if (store_.row_log().append({key.slot, key.hash}) >= kMostRows) {
      merge_row_log();
    }
  });
  if (outcome.failed()) {
    forget_rows();
  }
  outcome.throw_failure();
  if (cache_) {
    cache_->changes = sqlite3_total_changes(db_);
    cache_->changes_after_row = cache_->changes + 1;
  }
}

void GroupWriter::merge_row_log() {
  const GroupConfig now = config();
  if (!now.row_log_has_rows) {
    return;
  }
  const BitSlicedFilters filters(now.header.shape);
  CountedVector<SlotKey> keys;
  store_.row_log().for_each_stored(now, [&](const GroupRowLog::Key& key) {
    keys.push_back({filters.chunk_of(key.hash), key.slot, key.hash});
  });
  if (!keys.empty()) {
    write(now, keys);
    store_.row_log().clear();
    store_.row_log().forget();
  }
}

void GroupWriter::begin_transaction() {
  forget_rows();
  row_log_may_have_rows_ = false;
  keys_in_transaction_ = 0;
}

// An object whose table was dropped, or whose name was undone, cannot read the row log, and an
// authorizer or an interrupt may stop the merge. The log is then left to another object, or to a
// later transaction: the commit must not fail because of it.
void GroupWriter::sync() {
  write_deferred();
  if (!row_log_may_have_rows_) {
    return;
  }
  forget_rows();
  const sqlite::Outcome loading = sqlite::Outcome::of([&] { config(); });
  if (log_is_out_of_reach(loading)) {
    return;
  }
  loading.throw_failure();
  if (store_.is_merge_refused()) {
    return;
  }
  const int changes = sqlite3_changes(db_);
  const sqlite::Outcome merging = sqlite::Outcome::of([&] {
    merge_row_log();
    GroupConfig now = config();
    if (now.row_log_has_rows) {
      now.row_log_has_rows = false;
      store_.save_version(now);
    }
    store_.row_log().restore_changes(changes);
  });
  forget_rows();
  if ((merging.code() & 0xff) != SQLITE_READONLY) {
    merging.throw_failure();
  }
}

void GroupWriter::defer(const SlotKey& key) {
  deferred_.push_back(key);
  if (deferred_.size() == kMaxDeferred) {
    write_deferred();
  }
}

void GroupWriter::write_deferred() {
  if (!deferred_.empty()) {
    write(config(), deferred_);
    deferred_.clear();
  }
}

// Sorts the keys, so that each chunk of a segment is written once.
void GroupWriter::write(const GroupConfig& config, std::span<SlotKey> keys) {
  const auto chunk_of = [](const SlotKey& key) { return std::pair(key.chunk, key.segment()); };
  sort_by_row(keys);
  SegmentWriter writer(store_.segments(), config);
  for (auto first = keys.begin(); first != keys.end();) {
    const auto end = std::find_if(
        first, keys.end(), [&](const SlotKey& key) { return chunk_of(key) != chunk_of(*first); });
    write_chunk(writer, config, {first, end});
    first = end;
  }
}

// Requires: all keys are in one chunk of one segment.
void GroupWriter::write_chunk(SegmentWriter& writer, const GroupConfig& config,
                              std::span<const SlotKey> keys) {
  const BitSlicedFilters filters(config.header.shape);
  const std::uint64_t chunk = keys.front().chunk;
  const std::uint64_t segment = keys.front().segment();
  assert(std::all_of(keys.begin(), keys.end(), [&](const SlotKey& key) {
    return key.chunk == chunk && key.segment() == segment;
  }));
  if (segment >= config.wide_segments) {
    writer.change_chunk(chunk, segment, [&](std::uint8_t* cells) {
      for (const SlotKey& key : keys) {
        filters.add(key.hash, FilterSet{1} << key.slot % kSegmentFilters, cells);
      }
    });
    return;
  }
  for (const SlotKey& key : keys) {
    filters.for_each_position(key.hash, [&](std::uint64_t p) {
      writer.set_wide_bit(key.slot, chunk * kSegmentBlock + p);
    });
  }
}

}  // namespace bloom
