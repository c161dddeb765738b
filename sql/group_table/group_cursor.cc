// The lookups of a bloom_groups table, and the columns of its rows.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "core/support/bytes.h"
#include "core/support/error.h"
#include "sql/group_table/group_table.h"
#include "sql/sqlite/context.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"
#include "sql/values/results.h"
#include "sql/vtab/key_constraint.h"

namespace bloom {
namespace {

[[noreturn]] void refuse_to_list_keys() {
  fail(
      "cannot list the keys of a Bloom filter (give the key: key = ?, or t JOIN ... ON key = t.k, "
      "with t first; UNION instead of OR, NOT IN instead of RIGHT JOIN)");
}

[[noreturn]] void refuse_collation(const std::string& collation) {
  fail("the filters cannot compare key under the collation " + collation +
       " (compare it under COLLATE BINARY, or under the collation in the option collate)");
}

}  // namespace

void GroupTable::Cursor::start(int plan, const char* idx_string, const Values& values) {
  table_.require_usable();
  table_.shared_.write_deferred_keys();
  slots_.clear();
  members_.clear();
  row_ = 0;
  removals_ = table_.shared_.removals;
  opened_ = table_.transaction_.now();
  estimates_.clear();
  plan_ = static_cast<GroupPlan>(plan % kFromLists);
  if (plan_ == GroupPlan::refused_collation) {
    refuse_collation(std::string(idx_string).substr(kUnsupportedCollationPrefix.size()));
  }
  if (plan_ == GroupPlan::refused_scan) {
    refuse_to_list_keys();
  }
  config_ = table_.store_.config_for_lookup();
  if (plan >= kFromLists && !std::exchange(lists_are_checked_, true)) {
    require_collation_of_lists();
  }
  if (follows()) {
    return find_members(values);
  }
  switch (plan_) {
    case GroupPlan::key:
      slots_ = look_up(values[0]);
      break;
    case GroupPlan::key_of_member:
      slots_ = look_up_member(values[0], values[1]);
      break;
    case GroupPlan::member:
      slots_ = table_.store_.members().slots_equal_to(config_, values[0]);
      break;
    case GroupPlan::all_members:
    case GroupPlan::refused_collation:
    case GroupPlan::refused_scan:
      slots_ = table_.store_.members().used_slots(config_);
      break;
  }
}

void GroupTable::Cursor::require_collation_of_lists() {
  const std::string other = table_.list_collations_.find_other_collation(
      name_of(config_.header.shape.collation), 0, static_cast<int>(GroupColumn::key));
  if (!other.empty()) {
    refuse_collation(other);
  }
}

// Skips members that other statements have removed.
void GroupTable::Cursor::next() {
  table_.transaction_.require_not_undone(opened_);
  do {
    ++row_;
  } while (!at_end() && !follows() && may_be_out_of_date() &&
           !table_.store_.members().has_member(slots_[row_]));
}

CountedVector<std::uint64_t> GroupTable::Cursor::look_up(const Value& key) {
  key_.assign(key, table_.encoding_.is_utf8());
  CountedVector<std::uint64_t> slots;
  const Key bytes(key);
  refuse_filter_or_handle(bytes, key);
  if (!bytes.is_null()) {
    hash_ = bytes.hash(config_.header.shape);
    look_up(hash_, slots);
  }
  return slots;
}

void GroupTable::Cursor::look_up(Hash hash, CountedVector<std::uint64_t>& slots) {
  if (config_.wide_segments > 0) {
    look_up_in_wide(hash, slots);
  }
  const BitSlicedFilters filters(config_.header.shape);
  table_.store_.segments().for_each_data_chunk(
      config_, filters.chunk_of(hash), [&](std::uint64_t segment, const std::uint8_t* chunk) {
        append_slots(segment, filters.may_contain(hash, chunk), slots);
      });
  table_.store_.read_row_log(config_).for_each_slot_with(hash, [&](std::uint64_t slot) {
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) {
      slots.push_back(slot);
    }
  });
}

void GroupTable::Cursor::look_up_in_wide(Hash hash, CountedVector<std::uint64_t>& slots) {
  const BitSlicedFilters filters(config_.header.shape);
  const std::uint64_t first = filters.chunk_of(hash) * kSegmentBlock;
  WideReader reader(table_.store_.segments(), config_);
  for (std::uint64_t row = 0; row * kSegmentsPerRow < config_.wide_segments; ++row) {
    std::array<FilterSet, kSegmentsPerRow> found;
    found.fill(~FilterSet{0});
    filters.for_each_position(hash,
                              [&](std::uint64_t p) { reader.intersect(row, first + p, found); });
    for (std::size_t i = 0; i < segments_in_row(config_.wide_segments, row); ++i) {
      append_slots(row * kSegmentsPerRow + i, found[i], slots);
    }
  }
  if (table_.store_.members().has_free_slot_below(config_.wide_segments * kSegmentFilters)) {
    std::erase_if(slots,
                  [&](std::uint64_t slot) { return !table_.store_.members().has_member(slot); });
  }
}

void GroupTable::Cursor::append_slots(std::uint64_t segment, FilterSet filters,
                                      CountedVector<std::uint64_t>& slots) {
  for (; filters != 0; filters &= filters - 1) {
    slots.push_back(segment * kSegmentFilters + static_cast<unsigned>(std::countr_zero(filters)));
  }
}

CountedVector<std::uint64_t> GroupTable::Cursor::look_up_member(const Value& key,
                                                                const Value& member) {
  key_.assign(key, table_.encoding_.is_utf8());
  const Key bytes(key);
  refuse_filter_or_handle(bytes, key);
  if (bytes.is_null()) {
    return {};
  }
  hash_ = bytes.hash(config_.header.shape);
  CountedVector<std::uint64_t> slots = table_.store_.members().slots_equal_to(config_, member);
  CountedVector<std::uint64_t> in_row_log;
  table_.store_.read_row_log(config_).for_each_slot_with(
      hash_, [&](std::uint64_t slot) { in_row_log.push_back(slot); });
  std::erase_if(slots, [&](std::uint64_t slot) {
    return std::find(in_row_log.begin(), in_row_log.end(), slot) == in_row_log.end() &&
           !table_.store_.segments().may_contain(config_, slot, hash_);
  });
  return slots;
}

// Reads all filters of a row of _wide at once if the cursor lists all members, else those of one
// segment. Other statements may have changed the table since the row was found, so the config is
// read again.
const Estimate* GroupTable::Cursor::estimate() {
  const auto slot = this->slot();
  if (!slot) {
    return nullptr;
  }
  if (*slot < first_estimated_ || *slot - first_estimated_ >= estimates_.size()) {
    const std::uint64_t segment = *slot / kSegmentFilters;
    const std::uint64_t count = plan_ == GroupPlan::all_members ? kSegmentsPerRow : 1;
    const GroupConfig now = table_.store_.load_config();
    if (segment >= now.segments) {
      return nullptr;
    }
    const std::uint64_t first = segment / count * count;
    estimates_ = table_.store_.estimates(now, {first, std::min(first + count, now.segments)});
    first_estimated_ = first * kSegmentFilters;
  }
  return &estimates_[static_cast<std::size_t>(*slot - first_estimated_)];
}

std::optional<std::uint64_t> GroupTable::Cursor::slot() {
  if (!follows()) {
    return slots_[row_];
  }
  const sqlite::OwnedValue copy = member().copy();
  return table_.store_.members().slot_of(table_.store_.load_config(), Value(copy.get()));
}

void GroupTable::Cursor::return_member(sqlite3_context* raw) {
  if (follows()) {
    return member().set_result(raw);
  }
  const std::uint64_t slot = slots_[row_];
  const bool found = table_.store_.members().with_member(
      slot, [&](const Value& member) { member.set_result(raw); });
  if (!found && !may_be_out_of_date()) {
    table_.store_.members().require_row(slot);
  }
}

// Returns the identity of the row: the slot, or a blob of slot and key if a key was looked up. A
// member is another row for each key. 5 and '5' have the same hash, but SQL compares them as
// different values, so the type is part of the identity.
//
// In a table with a source, the bytes of the member take the place of the slot, because a member
// can get a slot, or another one, while the query runs.
void GroupTable::Cursor::return_row_identity(sqlite3_context* raw) {
  if (!looks_up_a_key(plan_) && !follows()) {
    return Context(raw).result_int64(static_cast<std::int64_t>(slots_[row_]));
  }
  std::array<std::uint8_t, 3 * sizeof(std::uint64_t) + 1> row{};
  if (looks_up_a_key(plan_)) {
    const bool is_number = key_.type() == SQLITE_INTEGER || key_.type() == SQLITE_FLOAT;
    store_le(row.data() + sizeof(std::uint64_t), hash_.h1);
    store_le(row.data() + 2 * sizeof(std::uint64_t), hash_.h2);
    row.back() = static_cast<std::uint8_t>(is_number ? SQLITE_INTEGER : key_.type());
  }
  if (!follows()) {
    store_le(row.data(), slots_[row_]);
  }
  std::string bytes(reinterpret_cast<const char*>(row.data()), row.size());
  Context(raw).result_blob(follows() ? bytes.append(member_bytes(member())) : bytes);
}

void GroupTable::Cursor::return_filter_of_member(Context& context) {
  const GroupConfig now = table_.store_.load_config();
  require_filter_within_limit(context, now.header.shape);
  if (follows()) {
    return return_filter_with_change_log(context);
  }
  const std::uint64_t slot = slots_[row_];
  if (slot / kSegmentFilters < now.segments) {
    Filter filter = table_.store_.segments().filter_of(now, slot);
    table_.store_.read_row_log(now).for_each([&](const GroupRowLog::Key& key) {
      if (key.slot == slot) {
        filter.add(key.hash);
      }
    });
    return_filter(context, std::move(filter));
  }
}

void GroupTable::Cursor::return_info(Context& context) {
  GroupTotals totals{.members = table_.store_.members().count(),
                     .segments = config_.segments,
                     .wide_segments = config_.wide_segments};
  if (follows()) {
    const GroupSourceFollower& follower = *table_.follower_;
    totals.source = {.table = follower.source(),
                     .member = follower.member_column(),
                     .columns = follower.key_columns(),
                     .pending = follower.pending()};
  }
  context.result_text(groups_json(config_.header, totals));
}

void GroupTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  Context context(raw);
  const auto column = static_cast<GroupColumn>(i);
  if (set_result(hidden_columns(), i, *this, context)) {
    return;
  }
  switch (column) {
    case GroupColumn::member:
      return return_member(raw);
    case GroupColumn::key:
      if (!looks_up_a_key(plan_)) {
        refuse_to_list_keys();
      }
      return key_.set_result(raw);
    default:
      return return_row_identity(raw);
  }
}

constexpr GroupTable::Cursor::Hidden GroupTable::Cursor::kHidden[] = {
    {GroupColumn::filter, "filter", "BLOB",
     [](Cursor& c, Context& context) { c.return_filter_of_member(context); }},
    {GroupColumn::keys, "keys", "INTEGER",
     [](Cursor& c, Context& context) {
       if (const Estimate* const found = c.estimate()) {
         return_count(context, rounded_keys(*found));
       }
     }},
    {GroupColumn::fpr, "fpr", "REAL",
     [](Cursor& c, Context& context) {
       if (const Estimate* const found = c.estimate()) {
         context.result_double(found->fpr);
       }
     }},
    {GroupColumn::capacity, "capacity", "INTEGER",
     [](Cursor& c, Context& context) { return_count(context, c.config_.header.capacity); }},
    {GroupColumn::bytes, "bytes", "INTEGER",
     [](Cursor& c, Context& context) {
       return_count(context, stored_bytes(c.config_.header.shape));
     }},
    {GroupColumn::overfull, "overfull", "INTEGER",
     [](Cursor& c, Context& context) {
       if (const Estimate* const found = c.estimate()) {
         context.result_bool(is_overfull(c.config_.header, *found));
       }
     }},
    {GroupColumn::info, "info", "TEXT",
     [](Cursor& c, Context& context) { c.return_info(context); }},
    {GroupColumn::pending, "pending", "INTEGER",
     [](Cursor& c, Context& context) {
       if (c.follows()) {
         return_count(context, c.table_.follower_->pending());
       }
     }},
};

std::span<const GroupTable::Cursor::Hidden> GroupTable::Cursor::hidden_columns() {
  static_assert(lists_all_in_order(kHidden, GroupColumn::filter, GroupColumn::command));
  return kHidden;
}

}  // namespace bloom
