#include "sql/search_table/ranges/range_builder.h"

#include <algorithm>
#include <array>

#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::Statement;

// Short ranges have fewer rows to read. But words and grams repeat from row to row: the shorter the
// ranges, the more ranges store the same ones.
constexpr std::uint64_t kValuesPerRange = 2048;
constexpr std::uint64_t kWordsPerRange = 8192;
constexpr std::uint64_t kGramsPerRange = 16384;
constexpr double kKeysFpr = 0.00314;  // 12 bits per key
constexpr double kGramsFpr = 0.0905;  // 5 bits per key
constexpr std::int64_t kSkippedRows = 1000;

std::vector<std::size_t> items_of(const std::vector<KeyRule>& columns) {
  std::vector<std::size_t> items;
  items.reserve(columns.size());
  for (const KeyRule& column : columns) {
    items.push_back(column.item);
  }
  return items;
}

}  // namespace

Header header_of(const std::vector<KeyRule>& columns) {
  const auto has = [&](SearchedBy by) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const KeyRule& column) { return column.by == by; });
  };
  if (has(SearchedBy::like)) {
    return size_filter(kGramsPerRange, kGramsFpr, Kind::standard, kSegmentBlock);
  }
  const std::uint64_t keys = has(SearchedBy::words) ? kWordsPerRange : kValuesPerRange;
  return size_filter(keys, kKeysFpr, Kind::standard, kSegmentBlock);
}

void KeySet::clear() {
  if (mask_ != 0 && keys_.empty()) {
    return;
  }
  keys_.clear();
  table_.assign(std::size_t{1} << 15U, 0);
  mask_ = table_.size() - 1;
}

void KeySet::grow() {
  table_.assign(table_.size() * 2, 0);
  mask_ = table_.size() - 1;
  for (const SearchKey key : keys_) {
    table_[slot_of(key)] = key;
  }
}

void KeySet::add(SearchKey key) {
  key += key == 0 ? 1 : 0;
  const std::size_t i = slot_of(key);
  if (table_[i] == key) {
    return;
  }
  table_[i] = key;
  keys_.push_back(key);
  if (keys_.size() * 4 > table_.size() * 3) {
    grow();
  }
}

bool KeySet::contains(SearchKey key) const {
  key += key == 0 ? 1 : 0;
  return table_[slot_of(key)] == key;
}

// Without a seed, someone could choose words whose slots are neighbours, and a row of them would
// take hours.
std::size_t KeySet::slot_of(SearchKey key) const {
  static const std::uint64_t seed = [] {
    std::uint64_t random = 0;
    sqlite3_randomness(sizeof random, &random);
    return random;
  }();
  std::size_t i = as_size(mixed(key ^ seed)) & mask_;
  while (table_[i] != 0 && table_[i] != key) {
    i = (i + 1) & mask_;
  }
  return i;
}

bool append_keys(const KeyRule& column, const sqlite::Value& value, bool as_stored, KeySet& keys) {
  const int type = value.type();
  if (type == SQLITE_NULL) {
    return true;
  }
  if (column.by == SearchedBy::equal) {
    const Key key(value, as_stored);
    keys.add(equal_key(key.bytes(), column.collation, column.item));
    if (key.is_noncanonical_number()) {
      keys.add(marker_key(column.item));
    }
    return true;
  }
  if (type == SQLITE_BLOB || type == SQLITE_FLOAT) {
    return false;
  }
  const std::string_view text =
      as_stored && type == SQLITE_TEXT ? value.stored_text() : value.text();
  if (column.by == SearchedBy::words) {
    std::string_view rest = text;
    for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
      keys.add(word_key(word, column.item));
    }
  } else {
    for_each_gram(text, column.item, [&](SearchKey key) { keys.add(key); });
  }
  return true;
}

RangeBuilder::RangeBuilder(SearchStore& store, const SearchSource& source, Family family,
                           const std::vector<KeyRule>& columns, FamilyConfig& config)
    : store_(store),
      source_(source),
      family_(family),
      columns_(columns),
      config_(config),
      batch_(store.segments(family), config),
      free_(store.free_slots(family, config)),
      limit_(as_size(config.header.capacity)),
      is_utf8_(source.is_utf8()) {}

bool RangeBuilder::add_row(std::int64_t rowid, const sqlite::Values& values) {
  for (int i = 0; i < values.size() && !is_unknown_; ++i) {
    is_unknown_ = !append_keys(columns_[static_cast<std::size_t>(i)], values[i], is_utf8_, keys_);
  }
  last_ = rowid;
  ++rows_;
  if (++range_rows_ == kMaxRangeRows || keys_.size() >= limit_) {
    end_range(rowid);
  }
  return true;
}

std::uint64_t RangeBuilder::next_slot() {
  if (next_free_ == free_.size()) {
    const sqlite::KeepLastRowid keep(source_.db());
    store_.segments(family_).add_segment(config_);
    for (unsigned j = 0; j < kSegmentFilters; ++j) {
      free_.push_back(config_.segments * kSegmentFilters + j);
    }
    ++config_.segments;
  }
  return free_[next_free_++];
}

void RangeBuilder::end_range(std::int64_t last) {
  if (range_rows_ != 0) {
    const std::uint64_t slot = next_slot();
    FilterCells& cells = batch_.begin_filter(slot);
    if (is_unknown_) {
      cells.set_all();
    }
    std::array<Hash, 64> hashes;
    for (auto keys = keys_.keys(); !keys.empty() && !is_unknown_;) {
      const std::size_t count = std::min(keys.size(), hashes.size());
      std::transform(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count),
                     hashes.begin(), hash_of);
      cells.add(std::span(hashes).first(count));
      keys = keys.subspan(count);
    }
    store_.put_range(family_, {slot, {first_, last}});
    ++config_.ranges;
  }
  keys_.clear();
  range_rows_ = 0;
  is_unknown_ = false;
  first_ = last == kHighestRowid ? last : last + 1;
}

void RangeBuilder::read(RowidRange rows) {
  RowFeed feed(source_, items_of(columns_));
  first_ = rows.first;
  for (;;) {
    last_ = first_ - (first_ == kLowestRowid ? 0 : 1);
    const RowidRange rest{first_, rows.last};
    const sqlite::Outcome outcome = sqlite::Outcome::of([&] { feed.read(rest, *this); });
    feed.require_undisturbed();
    if (!outcome.failed()) {
      return end_range(rows.last);
    }
    throw_unless_row_failed(outcome);
    if (skip_failing_rows({std::max(last_, rest.first), rows.last}) == rows.last) {
      return;
    }
  }
}

// An expression has failed for the row after the first of these. Ends the range in progress there,
// or some rows later, because more rows may fail. Returns the last rowid of the range.
std::int64_t RangeBuilder::skip_failing_rows(RowidRange rows) {
  const std::string id = sqlite::quoted_column(source_.rowid_alias());
  const Statement select(source_.db(), "SELECT " + id + " FROM " + source_.qualified() + " WHERE " +
                                           id + " BETWEEN ?1 AND ?2 ORDER BY 1 LIMIT 1 OFFSET ?3");
  Execution run(select);
  const bool found = run.bind(1, rows.first).bind(2, rows.last).bind(3, kSkippedRows).step();
  is_unknown_ = true;
  ++range_rows_;
  const std::int64_t last = found ? run.integer(0) : rows.last;
  end_range(last);
  return last;
}

std::uint64_t RangeBuilder::finish() {
  batch_.write();
  return rows_;
}

}  // namespace bloom
