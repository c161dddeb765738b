// The lookups of a bloom_groups table, and the columns of its rows.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "core/support/bytes.h"
#include "core/support/error.h"
#include "sql/sqlite/context.h"
#include "sql/table/group_table.h"
#include "sql/table/plan.h"
#include "sql/values/info_json.h"
#include "sql/values/results.h"

namespace bloom {

void GroupTable::Cursor::filter(int plan, const char* idx_string, const Values& values) {
  table_.require_usable();
  table_.shared_.write_deferred_keys();
  rows_.clear();
  row_ = 0;
  estimates_.clear();
  plan_ = static_cast<GroupPlan>(plan);
  if (plan_ == GroupPlan::refused_collation) {
    fail("the filters cannot compare key under the collation " +
         std::string(idx_string).substr(kUnsupportedCollationPrefix.size()) +
         " (compare it under COLLATE BINARY, or under the collation in the option collate)");
  }
  config_ = table_.store_.load_config();
  require_collation();
  if (table_.ranges_ && looks_up_a_key(plan_)) {
    return look_up_ranges(values[0]);
  }
  switch (plan_) {
    case GroupPlan::key:
      return add_rows(look_up(values[0]));
    case GroupPlan::key_of_member:
      return add_rows(look_up_member(values[0], values[1]));
    case GroupPlan::member:
      return add_rows(table_.store_.slots_equal_to(config_, values[0]));
    case GroupPlan::all_members:
    case GroupPlan::refused_collation:
      return add_rows(table_.store_.used_slots(config_));
  }
}

void GroupTable::Cursor::add_rows(const std::vector<std::uint64_t>& slots) {
  rows_.reserve(slots.size() + 1);
  for (const std::uint64_t slot : slots) {
    rows_.push_back({slot, table_.ranges_ ? table_.range_of(config_, slot) : RowRange{}});
  }
}

void GroupTable::Cursor::require_collation() const {
  const Collation own = config_.header.shape.collation;
  if (own != table_.options_.collation()) {
    fail("the column of the source has the collation " +
         std::string(name_of(table_.options_.collation())) + " now, and the filters have " +
         std::string(name_of(own)) + " (drop the table and make it again)");
  }
}

// If the source is out of sync, returns all ranges. One range over all rowids would not do: a query
// may also have a condition on `first`.
void GroupTable::Cursor::look_up_ranges(const Value& key) {
  RowRanges& source = *table_.ranges_;
  const auto problem = source.out_of_sync(table_.store_.table(), config_);
  if (problem && !table_.options_.answers_maybe_when_stale()) {
    fail(*problem);
  }
  key_.assign(key);
  if (key.is_null()) {
    return;
  }
  const Key bytes(key);
  hash_ = source.convert_key(bytes, key, config_.header.shape, key_);
  add_rows(problem ? table_.store_.used_slots(config_) : ranges_that_may_have(bytes));
  if (config_.summarized != kMaxRowid) {
    const std::int64_t first = config_.summarized ? *config_.summarized + 1 : kMinRowid;
    rows_.push_back({std::nullopt, {.first = first, .last = kMaxRowid}});
  }
}

// Returns the slots of the ranges in ascending order. Requires: the source is in sync.
std::vector<std::uint64_t> GroupTable::Cursor::ranges_that_may_have(const Key& key) {
  std::vector<std::uint64_t> slots = table_.changed_slots(config_);
  for (const Hash hash : table_.ranges_->hashes_of_equal_keys(key, config_.header.shape)) {
    look_up(hash, slots);
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

std::vector<std::uint64_t> GroupTable::Cursor::look_up(const Value& key) {
  key_.assign(key);
  std::vector<std::uint64_t> slots;
  if (const Key bytes(key); !bytes.is_null()) {
    hash_ = bytes.hash(config_.header.shape);
    look_up(hash_, slots);
  }
  return slots;
}

void GroupTable::Cursor::look_up(Hash hash, std::vector<std::uint64_t>& slots) {
  if (config_.wide > 0) {
    look_up_in_wide(hash, slots);
  }
  const BitSlicedFilters filters(config_.header.shape);
  table_.store_.for_each_data_chunk(
      config_, filters.chunk_of(hash), [&](std::uint64_t segment, const std::uint8_t* chunk) {
        append_slots(segment, filters.may_contain(hash, chunk), slots);
      });
}

void GroupTable::Cursor::look_up_in_wide(Hash hash, std::vector<std::uint64_t>& slots) {
  const BitSlicedFilters filters(config_.header.shape);
  const std::uint64_t first = filters.chunk_of(hash) * kSegmentBlock;
  WideReader reader(table_.store_, config_);
  for (std::uint64_t row = 0; row * kSegmentsPerRow < config_.wide; ++row) {
    std::array<FilterSet, kSegmentsPerRow> found;
    found.fill(~FilterSet{0});
    filters.for_each_position(hash,
                              [&](std::uint64_t p) { reader.intersect(row, first + p, found); });
    for (std::size_t i = 0; i < segments_in_row(config_.wide, row); ++i) {
      append_slots(row * kSegmentsPerRow + i, found[i], slots);
    }
  }
  const auto free = table_.store_.free_slots_below(config_.wide * kSegmentFilters);
  std::erase_if(slots, [&](std::uint64_t slot) {
    return std::binary_search(free.begin(), free.end(), slot);
  });
}

void GroupTable::Cursor::append_slots(std::uint64_t segment, FilterSet filters,
                                      std::vector<std::uint64_t>& slots) {
  for (; filters != 0; filters &= filters - 1) {
    slots.push_back(segment * kSegmentFilters + static_cast<unsigned>(std::countr_zero(filters)));
  }
}

std::vector<std::uint64_t> GroupTable::Cursor::look_up_member(const Value& key,
                                                              const Value& member) {
  key_.assign(key);
  const Key bytes(key);
  if (bytes.is_null()) {
    return {};
  }
  hash_ = bytes.hash(config_.header.shape);
  std::vector<std::uint64_t> slots = table_.store_.slots_equal_to(config_, member);
  std::erase_if(slots,
                [&](std::uint64_t slot) { return !table_.may_contain(config_, slot, hash_); });
  return slots;
}

// Reads all filters of a row of _wide at once if the cursor lists all members, else those of one
// segment. Other statements may have changed the table since the row was found, so the config is
// read again.
const Estimate* GroupTable::Cursor::estimate() {
  const std::uint64_t slot = *rows_[row_].slot;
  if (slot < first_estimated_ || slot - first_estimated_ >= estimates_.size()) {
    const std::uint64_t segment = slot / kSegmentFilters;
    const std::uint64_t count = plan_ == GroupPlan::all_members ? kSegmentsPerRow : 1;
    const GroupConfig now = table_.store_.load_config();
    if (segment >= now.segments) {
      return nullptr;
    }
    const std::uint64_t first = segment / count * count;
    estimates_ = table_.store_.estimates(now, {first, std::min(first + count, now.segments)});
    first_estimated_ = first * kSegmentFilters;
  }
  return &estimates_[static_cast<std::size_t>(slot - first_estimated_)];
}

void GroupTable::Cursor::return_member(sqlite3_context* raw) {
  const Row& row = rows_[row_];
  if (table_.ranges_) {
    return Context(raw).result_int64(row.range.first);
  }
  if (!table_.store_.with_member(*row.slot, [&](const Value& member) { member.set_result(raw); })) {
    table_.store_.require_row(*row.slot);
  }
}

// Returns the identity of the row: the slot, or a blob of slot and key if a key was looked up. A
// member is another row for each key. 5 and '5' have the same hash, but SQL compares them as
// different values, so the type is part of the identity.
void GroupTable::Cursor::return_row(sqlite3_context* raw) {
  constexpr std::uint64_t kNoSlot = ~std::uint64_t{0};
  const std::uint64_t slot = rows_[row_].slot.value_or(kNoSlot);
  if (!looks_up_a_key(plan_)) {
    return Context(raw).result_int64(static_cast<std::int64_t>(slot));
  }
  const bool is_number = key_.type() == SQLITE_INTEGER || key_.type() == SQLITE_FLOAT;
  std::array<std::uint8_t, 3 * sizeof(std::uint64_t) + 1> row;
  store_le(row.data(), slot);
  store_le(row.data() + sizeof(std::uint64_t), hash_.h1);
  store_le(row.data() + 2 * sizeof(std::uint64_t), hash_.h2);
  row.back() = static_cast<std::uint8_t>(is_number ? SQLITE_INTEGER : key_.type());
  Context(raw).result_blob({reinterpret_cast<const char*>(row.data()), row.size()});
}

void GroupTable::Cursor::return_filter_of_member(sqlite3_context* raw) {
  Context context(raw);
  const GroupConfig now = table_.store_.load_config();
  require_filter_within_limit(context, now.header.shape);
  const std::uint64_t slot = *rows_[row_].slot;
  if (table_.ranges_) {
    table_.require_unchanged_range(now, slot);
  }
  if (slot / kSegmentFilters < now.segments) {
    return_filter(context, table_.store_.filter_of(now, slot));
  }
}

void GroupTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  Context context(raw);
  const Row& row = rows_[row_];
  const Header& header = config_.header;
  const auto column = static_cast<GroupColumn>(i);
  const bool is_of_filter = column >= GroupColumn::filter && column <= GroupColumn::overfull;
  if (is_of_filter && !row.slot) {
    return;
  }
  switch (column) {
    case GroupColumn::member:
      return return_member(raw);
    case GroupColumn::key:
      if (!looks_up_a_key(plan_)) {
        fail("cannot list the keys of a Bloom filter (give the key: key = ?)");
      }
      return key_.set_result(raw);
    case GroupColumn::filter:
      return return_filter_of_member(raw);
    case GroupColumn::keys:
      if (const Estimate* const found = estimate()) {
        context.result_int64(static_cast<std::int64_t>(rounded_keys(*found)));
      }
      return;
    case GroupColumn::fpr:
      if (const Estimate* const found = estimate()) {
        context.result_double(found->fpr);
      }
      return;
    case GroupColumn::capacity:
      return context.result_int64(static_cast<std::int64_t>(header.capacity));
    case GroupColumn::bytes:
      return context.result_int64(static_cast<std::int64_t>(stored_bytes(header.shape)));
    case GroupColumn::overfull:
      if (const Estimate* const found = estimate()) {
        context.result_bool(exceeds_capacity(header, found->keys));
      }
      return;
    case GroupColumn::info:
      return context.result_text(groups_json(header, {.members = table_.store_.member_count(),
                                                      .segments = config_.segments,
                                                      .wide = config_.wide}));
    case GroupColumn::command:
      return return_row(raw);
    case GroupColumn::last:
      return context.result_int64(row.range.last);
  }
}

}  // namespace bloom
