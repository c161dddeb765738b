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
  slots_.clear();
  ranges_.clear();
  row_ = 0;
  estimates_.clear();
  plan_ = static_cast<GroupPlan>(plan);
  if (plan_ == GroupPlan::refused_collation) {
    fail("the filters cannot compare key under the collation " +
         std::string(idx_string).substr(kForeignCollation.size()) +
         " (compare it under COLLATE BINARY, or under the collation in the option collate)");
  }
  config_ = table_.store_.load_config();
  require_collation();
  if (table_.ranges_ && looks_up_a_key(plan_)) {
    return look_up_ranges(values[0]);
  }
  switch (plan_) {
    case GroupPlan::key:
      look_up(values[0]);
      break;
    case GroupPlan::key_of_member:
      look_up_member(values[0], values[1]);
      break;
    case GroupPlan::member:
      slots_ = table_.store_.slots_equal_to(config_, values[0]);
      break;
    case GroupPlan::all_members:
    case GroupPlan::refused_collation:
      slots_ = table_.store_.used_slots(config_);
  }
  if (table_.ranges_) {
    fill_ranges();
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
  hash_ = bytes.hash(config_.header.shape);
  source.show(bytes, key, key_);
  if (problem) {
    slots_.push_back(kNoSlot);
    ranges_.push_back({.first = kMinRowid, .last = kMaxRowid});
    return;
  }
  for (const Hash hash : source.hashes_of_equal_keys(bytes, config_.header.shape)) {
    look_up(hash);
  }
  add_changed_ranges();
  fill_ranges();
  if (config_.summarized != kMaxRowid) {
    slots_.push_back(kNoSlot);
    ranges_.push_back(
        {.first = config_.summarized ? *config_.summarized + 1 : kMinRowid, .last = kMaxRowid});
  }
}

void GroupTable::Cursor::add_changed_ranges() {
  const std::vector<std::uint64_t> changed = table_.changed_slots(config_);
  slots_.insert(slots_.end(), changed.begin(), changed.end());
  std::sort(slots_.begin(), slots_.end());
  slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
}

void GroupTable::Cursor::fill_ranges() {
  for (const std::uint64_t slot : slots_) {
    ranges_.push_back(table_.range_of(config_, slot));
  }
}

void GroupTable::Cursor::append_members(std::uint64_t segment, FilterSet filters) {
  for (; filters != 0; filters &= filters - 1) {
    slots_.push_back(segment * kSegmentFilters + static_cast<unsigned>(std::countr_zero(filters)));
  }
}

void GroupTable::Cursor::look_up(const Value& key) {
  key_.assign(key);
  if (const Key bytes(key); !bytes.is_null()) {
    hash_ = bytes.hash(config_.header.shape);
    look_up(hash_);
  }
}

void GroupTable::Cursor::look_up(Hash hash) {
  if (config_.wide > 0) {
    look_up_in_wide(hash);
  }
  const BitSlicedFilters filters(config_.header.shape);
  table_.store_.for_each_data_chunk(
      config_, filters.chunk_of(hash), [&](std::uint64_t segment, const std::uint8_t* chunk) {
        if (const FilterSet found = filters.may_contain(hash, chunk)) {
          append_members(segment, found);
        }
      });
}

void GroupTable::Cursor::look_up_in_wide(Hash hash) {
  const BitSlicedFilters filters(config_.header.shape);
  const std::uint64_t first = filters.chunk_of(hash) * kSegmentBlock;
  WideReader reader(table_.store_, config_);
  for (std::uint64_t row = 0; row * kSegmentsPerRow < config_.wide; ++row) {
    std::array<FilterSet, kSegmentsPerRow> found;
    found.fill(~FilterSet{0});
    filters.for_each_position(hash,
                              [&](std::uint64_t p) { reader.intersect(row, first + p, found); });
    for (std::size_t i = 0; i < segments_in_row(config_.wide, row); ++i) {
      append_members(row * kSegmentsPerRow + i, found[i]);
    }
  }
  const auto free = table_.store_.free_slots_below(config_.wide * kSegmentFilters);
  std::erase_if(slots_, [&](std::uint64_t slot) {
    return std::binary_search(free.begin(), free.end(), slot);
  });
}

void GroupTable::Cursor::look_up_member(const Value& key, const Value& member) {
  key_.assign(key);
  const Key bytes(key);
  if (bytes.is_null()) {
    return;
  }
  hash_ = bytes.hash(config_.header.shape);
  for (const std::uint64_t slot : table_.store_.slots_equal_to(config_, member)) {
    if (table_.may_contain(config_, slot, hash_)) {
      slots_.push_back(slot);
    }
  }
}

// Reads all filters of a row of _wide at once if the cursor lists all members, else those of one
// segment. Other statements may have changed the table since the row was found, so the config is
// read again.
const Estimate* GroupTable::Cursor::estimate() {
  const std::uint64_t slot = slots_[row_];
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
  if (table_.ranges_) {
    return Context(raw).result_int64(ranges_[row_].first);
  }
  if (!table_.store_.with_member(slots_[row_],
                                 [&](const Value& member) { member.set_result(raw); })) {
    table_.store_.require_row(slots_[row_]);
  }
}

// Returns the identity of the row: the slot, or a blob of slot and key if a key was looked up. A
// member is another row for each key.
void GroupTable::Cursor::return_row(sqlite3_context* raw) {
  const std::uint64_t slot = slots_[row_];
  if (!looks_up_a_key(plan_)) {
    return Context(raw).result_int64(static_cast<std::int64_t>(slot));
  }
  std::array<std::uint8_t, 3 * sizeof(std::uint64_t)> row;
  store_le(row.data(), slot);
  store_le(row.data() + sizeof(std::uint64_t), hash_.h1);
  store_le(row.data() + 2 * sizeof(std::uint64_t), hash_.h2);
  Context(raw).result_blob({reinterpret_cast<const char*>(row.data()), row.size()});
}

void GroupTable::Cursor::return_filter_of_member(sqlite3_context* raw) {
  Context context(raw);
  const GroupConfig now = table_.store_.load_config();
  require_filter_within_limit(context, now.header.shape);
  if (slots_[row_] / kSegmentFilters < now.segments) {
    return_filter(context, table_.store_.filter_of(now, slots_[row_]));
  }
}

void GroupTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  Context context(raw);
  const Header& header = config_.header;
  const auto column = static_cast<GroupColumn>(i);
  const bool is_of_filter = column >= GroupColumn::filter && column <= GroupColumn::overfull;
  if (is_of_filter && !has_filter()) {
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
      return context.result_int64(ranges_[row_].last);
  }
}

}  // namespace bloom
