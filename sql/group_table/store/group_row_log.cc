#include "sql/group_table/store/group_row_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/filter/bit_sliced.h"
#include "core/support/bytes.h"
#include "sql/segments/segment_store.h"
#include "sql/sqlite/api.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

// Offsets in a row: the slot in 4 bytes, both halves of the hash and the token in 8 bytes each.
constexpr std::size_t kH1 = 4;
constexpr std::size_t kH2 = 12;
constexpr std::size_t kToken = 20;
constexpr std::size_t kRowBytes = 28;
static_assert(kMaxSegments * kSegmentFilters <= std::uint64_t{1} << 32U);

}  // namespace

std::uint64_t GroupRowLog::append(const Key& key) {
  if (!next_token_) {
    sqlite3_randomness(sizeof(std::uint64_t), &next_token_.emplace());
  }
  std::array<std::uint8_t, kRowBytes> row;
  store_le(row.data(), static_cast<std::uint32_t>(key.slot));
  store_le(row.data() + kH1, key.hash.h1);
  store_le(row.data() + kH2, key.hash.h2);
  store_le(row.data() + kToken, (*next_token_)++);
  return static_cast<std::uint64_t>(log_.append(row));
}

GroupRowLog::Row GroupRowLog::parse(std::span<const std::uint8_t> bytes,
                                    const GroupConfig& config) {
  if (bytes.size() != kRowBytes ||
      load_le<std::uint32_t>(bytes.data()) / kSegmentFilters >= config.segments) {
    throw_damaged("the row log has rows of another form");
  }
  const auto word = [&](std::size_t i) { return load_le<std::uint64_t>(bytes.data() + i); };
  return {.key = {load_le<std::uint32_t>(bytes.data()), {word(kH1), word(kH2)}},
          .token = word(kToken),
          .before = kNone};
}

void GroupRowLog::require_next(std::int64_t id, std::int64_t next) {
  if (id != next) {
    throw_damaged("the row log lacks rows");
  }
}

void GroupRowLog::read(const GroupConfig& config) {
  std::int64_t last = 0;
  std::uint64_t token = 0;
  const auto note = [&](std::int64_t id, std::span<const std::uint8_t> row) {
    last = id;
    token = parse(row, config).token;
  };
  if (!config.row_log_has_rows || !log_.with_newest(note)) {
    return forget();
  }
  if (has(last, token)) {
    while (rows_.size() > static_cast<std::size_t>(last)) {
      pop();
    }
  } else if (!read_newer_rows(config)) {
    forget();
    read_newer_rows(config);
  }
}

// Returns false if the newest row of the copy is not in the log any more.
bool GroupRowLog::read_newer_rows(const GroupConfig& config) {
  const auto known = static_cast<std::int64_t>(rows_.size());
  bool is_known = known == 0;
  log_.for_each(
      [&](std::int64_t id, std::span<const std::uint8_t> bytes) {
        const Row row = parse(bytes, config);
        if (id == known) {
          is_known = row.token == rows_.back().token;
        } else if (is_known) {
          require_next(id, static_cast<std::int64_t>(rows_.size()) + 1);
          push(row);
        }
      },
      known);
  return is_known;
}

void GroupRowLog::forget() {
  rows_ = {};
  newest_ = {};
}

void GroupRowLog::push(const Row& row) {
  constexpr std::size_t kFirst = 64;
  if (rows_.size() == newest_.size()) {
    newest_.assign(std::max(kFirst, 2 * newest_.size()), kNone);
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      rows_[i].before = std::exchange(newest_[bucket_of(rows_[i].key.hash)], i);
    }
  }
  std::uint32_t& newest = newest_[bucket_of(row.key.hash)];
  rows_.push_back(row);
  rows_.back().before = std::exchange(newest, static_cast<std::uint32_t>(rows_.size() - 1));
}

void GroupRowLog::pop() {
  newest_[bucket_of(rows_.back().key.hash)] = rows_.back().before;
  rows_.pop_back();
}

}  // namespace bloom
