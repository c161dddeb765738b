#include "sql/group_table/store/group_log.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/filter/bit_sliced.h"
#include "core/support/bytes.h"
#include "sql/sqlite/api.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

constexpr std::size_t kWords = 4;  // slot, both halves of the hash, token

}  // namespace

std::uint64_t GroupLog::append(const Key& key) {
  std::uint64_t token = 0;
  sqlite3_randomness(sizeof token, &token);
  std::array<std::uint8_t, kWords * sizeof(std::uint64_t)> row;
  std::uint8_t* to = row.data();
  for (const std::uint64_t word : {key.slot, key.hash.h1, key.hash.h2, token}) {
    store_le(to, word);
    to += sizeof word;
  }
  return static_cast<std::uint64_t>(log_.append(row));
}

GroupLog::Row GroupLog::parse(std::span<const std::uint8_t> bytes, const GroupConfig& config) {
  const auto word = [&](std::size_t i) {
    return load_le<std::uint64_t>(bytes.data() + i * sizeof(std::uint64_t));
  };
  if (bytes.size() != kWords * sizeof(std::uint64_t) ||
      word(0) / kSegmentFilters >= config.segments) {
    damaged("the row log has rows of another form");
  }
  return {.key = {word(0), {word(1), word(2)}}, .token = word(3), .before = kNone};
}

void GroupLog::read(const GroupConfig& config) {
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
bool GroupLog::read_newer_rows(const GroupConfig& config) {
  const auto known = static_cast<std::int64_t>(rows_.size());
  bool is_known = known == 0;
  log_.for_each(
      [&](std::int64_t id, std::span<const std::uint8_t> bytes) {
        const Row row = parse(bytes, config);
        if (id == known) {
          is_known = row.token == rows_.back().token;
        } else if (is_known && id == static_cast<std::int64_t>(rows_.size()) + 1) {
          push(row);
        } else if (is_known) {
          damaged("the row log lacks rows");
        }
      },
      known);
  return is_known;
}

void GroupLog::forget() {
  rows_ = {};
  newest_ = {};
}

void GroupLog::push(const Row& row) {
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

void GroupLog::pop() {
  newest_[bucket_of(rows_.back().key.hash)] = rows_.back().before;
  rows_.pop_back();
}

}  // namespace bloom
