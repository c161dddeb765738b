// The commands and lookups of a bloom_groups table whose members are ranges of rows.
#include <algorithm>
#include <vector>

#include "core/support/error.h"
#include "sql/group_table/group_table.h"
#include "sql/segments/filter_batch.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

constexpr const char* kDisordered = "the ranges are not in the order of their slots";

}  // namespace

void GroupTable::require_in_sync(const GroupConfig& config) {
  ranges_->schema_may_have_changed();
  if (const auto problem = ranges_->out_of_sync(store_.table(), config)) {
    fail(*problem);
  }
}

void GroupTable::summarize() {
  ranges_->require_not_being_written(transaction_.is_only_writer());
  GroupConfig config = store_.load_config();
  require_in_sync(config);
  change([&] {
    update_changed_ranges(config);
    add_ranges(config);
  });
}

void GroupTable::rebuild() {
  ranges_->require_not_being_written(transaction_.is_only_writer());
  change([&] {
    store_.clear();
    GroupConfig config = store_.load_config();
    ranges_->restore(store_.table(), options_.collation(), config);
    add_ranges(config);
  });
}

// Makes ranges of the rows after the last range, while there are enough rows for one.
void GroupTable::add_ranges(GroupConfig& config) {
  const RangeReader reader = ranges_->reader(config.header.shape);
  const auto last_start = reader.start_of_last_rows();
  FilterBatch batch(store_.segments(), config);
  while (last_start && (!config.summarized || *config.summarized < *last_start)) {
    const std::int64_t first = config.summarized ? *config.summarized + 1 : kMinRowid;
    FilterCells& cells = batch.cells_of(store_.add_member(first, config));
    config.summarized = reader.read_rows_from(first, [&](auto hashes) { cells.add(hashes); });
  }
  batch.write();
  store_.save_config(config);
}

void GroupTable::update_changed_ranges(const GroupConfig& config) {
  const RangeReader reader = ranges_->reader(config.header.shape);
  FilterBatch batch(store_.segments(), config);
  for (const std::uint64_t slot : changed_slots(config)) {
    FilterCells& cells = batch.cells_of(slot);
    reader.read(range_of(config, slot), [&](auto hashes) { cells.add(hashes); });
  }
  batch.write();
  ranges_->forget_changes(store_.table());
}

// Returns the slots of the changed ranges in ascending order. A note that names no range stands for
// all ranges.
CountedVector<std::uint64_t> GroupTable::changed_slots(const GroupConfig& config) {
  const auto changed = ranges_->changed_ranges(store_.table());
  if (!changed) {
    return store_.used_slots(config);
  }
  CountedVector<std::uint64_t> slots;
  for (const std::int64_t first : *changed) {
    const auto slot = store_.slot_of(config, first);
    if (!slot) {
      return store_.used_slots(config);
    }
    slots.push_back(*slot);
  }
  std::sort(slots.begin(), slots.end());
  return slots;
}

// Throws if rows of the range in this slot may have keys that its filter lacks.
void GroupTable::require_unchanged_range(const GroupConfig& config, std::uint64_t slot) {
  require_in_sync(config);
  const CountedVector<std::uint64_t> changed = changed_slots(config);
  if (std::binary_search(changed.begin(), changed.end(), slot)) {
    const RowRange range = range_of(config, slot);
    fail("the filter of the rows from " + std::to_string(range.first) + " to " +
         std::to_string(range.last) +
         " may lack keys, because rows have changed (run the command 'summarize')");
  }
}

// Ranges have slots in the order of their rowids, so the next range has the next slot.
RowRange GroupTable::range_of(const GroupConfig& config, std::uint64_t slot) {
  RowRange range{.first = kMinRowid, .last = config.summarized.value_or(kMaxRowid)};
  store_.with_member(slot, [&](const Value& first) {
    if (first.type() != SQLITE_INTEGER) {
      damaged(kDisordered);
    }
    range.first = first.integer();
  });
  store_.with_member(slot + 1, [&](const Value& next) {
    if (next.type() != SQLITE_INTEGER || next.integer() <= range.first) {
      damaged(kDisordered);
    }
    range.last = next.integer() - 1;
  });
  if (range.last < range.first) {
    damaged(kDisordered);
  }
  return range;
}

void GroupTable::check_ranges(const GroupConfig& config) {
  ranges_->require_not_being_written(/*is_only_writer=*/true);
  ranges_->schema_may_have_changed();
  if (const auto problem = ranges_->out_of_sync(store_.table(), config)) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, *problem);
  }
  const CountedVector<std::uint64_t> changed = changed_slots(config);
  std::optional<std::int64_t> covered;  // last rowid of the ranges so far
  for (const std::uint64_t slot : store_.used_slots(config)) {
    const RowRange range = range_of(config, slot);
    if (covered == kMaxRowid || range.first != (covered ? *covered + 1 : kMinRowid)) {
      damaged(kDisordered);
    }
    covered = range.last;
    if (std::binary_search(changed.begin(), changed.end(), slot)) {
      continue;  // lookups return a changed range without checking its filter
    }
    ranges_->for_each_key(range, [&](const Value& key) {
      if (!store_.segments().may_contain(config, slot, Key(key).hash(config.header.shape))) {
        throw SqliteError(SQLITE_CORRUPT_VTAB, "the rows from " + std::to_string(range.first) +
                                                   " to " + std::to_string(range.last) +
                                                   " have the key " + key.describe() +
                                                   ", which their filter does not have");
      }
    });
  }
  if (covered != config.summarized) {
    damaged("the ranges do not end at the last rowid in the config");
  }
}

}  // namespace bloom
