#include "sql/group_table/store/group_store.h"

#include <utility>
#include <variant>

#include "core/support/error.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::KeepLastRowid;
using sqlite::Statement;
using sqlite::Value;

constexpr std::int64_t kGroupVersion = 1;
constexpr std::int64_t kVersionWithLoggedRows = 17;  // while the row log may have rows

std::int64_t version_of(const GroupConfig& config) {
  return config.row_log_has_rows ? kVersionWithLoggedRows : kGroupVersion;
}

constexpr ShadowTable kGroupTables[] = {
    {"config", "(k PRIMARY KEY, v) WITHOUT ROWID", "k", "v"},
    {"members", "(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)", "slot", "cleared"},
    SegmentStore::kDataTable,
    SegmentStore::kWideTable,
    RowLog::kTable};

constexpr char kMemberOfSlot[] = "SELECT member FROM {members} WHERE slot = ?1";

// Returns the number of the slot. Throws if no segment has it.
std::uint64_t slot_in(std::int64_t row, const GroupConfig& config) {
  const auto slot = static_cast<std::uint64_t>(row);
  if (slot / kSegmentFilters >= config.segments) {
    damaged("slot " + std::to_string(row) + " belongs to no segment");
  }
  return slot;
}

}  // namespace

GroupStore::GroupStore(sqlite3* db, std::string schema, std::string table)
    : db_(db),
      tables_(db, std::move(schema), std::move(table), kGroupTables),
      log_(tables_, writes_),
      segments_(tables_, writes_) {}

bool GroupStore::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kGroupTables, suffix);
}

void GroupStore::create(const GroupConfig& config) {
  tables_.create();
  save_config(config);
}

GroupConfig GroupStore::load_config() {
  GroupConfig config;
  config.has_row_log = false;
  bool has_header = false;
  int sizes = 0;  // how many of `segments` and `wide` there are
  std::int64_t version = 0;
  Execution run(tables_.prepared("SELECT k, v FROM {config}"));
  while (run.step()) {
    if (run.type(0) != SQLITE_TEXT) {
      continue;
    }
    const std::string_view name = run.value(0).text();
    if (name == "version") {
      version = run.integer(1);
      config.row_log_has_rows = version == kVersionWithLoggedRows;
    } else if (name == "rowlog") {
      config.has_row_log = true;
    } else if (name == "header" && run.type(1) == SQLITE_BLOB) {
      const auto header = read_header(run.blob(1));
      if (const auto* problem = std::get_if<Problem>(&header)) {
        damaged("the header in the config is damaged (" + problem->text + ")");
      }
      config.header = std::get<Header>(header);
      has_header = true;
    } else if (name == "segments" && run.type(1) == SQLITE_INTEGER) {
      config.segments = static_cast<std::uint64_t>(run.integer(1));
      ++sizes;
    } else if (name == "wide" && run.type(1) == SQLITE_INTEGER) {
      config.wide_segments = static_cast<std::uint64_t>(run.integer(1));
      ++sizes;
    } else if (name == "guard" && run.type(1) == SQLITE_TEXT) {
      config.guard_index = run.value(1).text();
    } else if (name == "parts" && run.type(1) == SQLITE_TEXT) {
      config.parts = part_collations_named(run.value(1).text()).value_or(PartCollations());
    }
  }
  if (version != version_of(config) && version != 0) {
    throw Error(Error::Kind::invalid, "the table is of version " + std::to_string(version) +
                                          ", which this build does not know");
  }
  const Shape& shape = config.header.shape;
  if (version == 0 || !has_header || sizes != 2 || shape.kind != Kind::standard ||
      shape.block != kSegmentBlock || config.segments > kMaxSegments ||
      config.wide_segments > config.segments) {
    damaged("the config has no version, or values that are not valid");
  }
  return config;
}

void GroupStore::save_config(const GroupConfig& config) {
  ++writes_;
  const Statement replace = tables_.statement("REPLACE INTO {config} VALUES (?1, ?2)");
  const auto header = write_header(config.header);
  Execution(replace).bind(1, "version").bind(2, version_of(config)).step();
  if (config.has_row_log) {
    Execution(replace).bind(1, "rowlog").bind(2, std::int64_t{1}).step();
  }
  Execution(replace).bind(1, "header").bind(2, header).step();
  Execution(replace).bind(1, "segments").bind(2, as_integer(config.segments)).step();
  Execution(replace).bind(1, "wide").bind(2, as_integer(config.wide_segments)).step();
  if (!config.guard_index.empty()) {
    Execution(replace).bind(1, "guard").bind(2, config.guard_index).step();
  }
  if (const std::string parts = names_of(config.parts); !parts.empty()) {
    Execution(replace).bind(1, "parts").bind(2, parts).step();
  }
}

void GroupStore::save_version(const GroupConfig& config) {
  ++writes_;
  Execution(tables_.prepared("UPDATE {config} SET v = ?1 WHERE k = 'version'"))
      .bind(1, version_of(config))
      .step();
}

CountedVector<SlotKey> GroupStore::logged_keys(const GroupConfig& config, SegmentRange range) {
  const BitSlicedFilters filters(config.header.shape);
  CountedVector<SlotKey> keys;
  read_log(config).for_each([&](const GroupLog::Key& key) {
    const SlotKey found{filters.chunk_of(key.hash), key.slot, key.hash};
    if (range.first <= found.segment() && found.segment() < range.end) {
      keys.push_back(found);
    }
  });
  return keys;
}

CountedVector<Estimate> GroupStore::estimates(const GroupConfig& config, SegmentRange range) {
  CountedVector<SlotKey> logged = logged_keys(config, range);
  sort_by_row(logged);
  return segments_.estimates(config, range, logged);
}

std::optional<std::uint64_t> GroupStore::slot_of(const GroupConfig& config, const Value& member) {
  Execution run(tables_.prepared("SELECT slot FROM {members} WHERE member = ?1"));
  return run.bind(1, member).step() ? std::optional(slot_in(run.integer(0), config)) : std::nullopt;
}

CountedVector<std::uint64_t> GroupStore::slots_equal_to(const GroupConfig& config,
                                                        const Value& value) {
  CountedVector<std::uint64_t> slots;
  Execution run(
      tables_.prepared("SELECT slot FROM {members} WHERE member IN (?1, CAST(?1 AS TEXT), "
                       "CAST(CAST(?1 AS INTEGER) AS TEXT), CAST(?1 AS NUMERIC))"));
  run.bind(1, value);
  while (run.step()) {
    slots.push_back(slot_in(run.integer(0), config));
  }
  return slots;
}

std::uint64_t GroupStore::add_member(const Value& member, GroupConfig& config) {
  const KeepLastRowid keep(db_);
  ++writes_;
  if (const auto slot = take_free_slot(config, member)) {
    return *slot;
  }
  std::int64_t slot = 0;
  {
    Execution last(tables_.prepared("SELECT slot FROM {members} ORDER BY slot DESC LIMIT 1"));
    if (last.step()) {
      slot = last.integer(0) + 1;
    }
  }
  Execution(tables_.prepared("INSERT INTO {members} VALUES (?1, ?2, NULL)"))
      .bind(1, slot)
      .bind(2, member)
      .step();
  if (slot == as_integer(config.segments * kSegmentFilters)) {
    segments_.add_segment(config);
    ++config.segments;
    save_config(config);
  }
  return slot_in(slot, config);
}

std::optional<std::uint64_t> GroupStore::take_free_slot(const GroupConfig& config,
                                                        const Value& member) {
  std::uint64_t slot = 0;
  {
    Execution run(
        tables_.prepared("SELECT slot FROM {members} WHERE member IS NULL AND slot >= ?1 AND "
                         "cleared = 1 ORDER BY slot LIMIT 1"));
    if (!run.bind(1, as_integer(config.wide_segments * kSegmentFilters)).step()) {
      return std::nullopt;
    }
    slot = slot_in(run.integer(0), config);
  }
  rename_member(slot, member);
  return slot;
}

void GroupStore::rename_member(std::uint64_t slot, const Value& member) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = ?2, cleared = NULL WHERE slot = ?1");
  Execution(update).bind(1, as_integer(slot)).bind(2, member).step();
}

void GroupStore::free_slot(std::uint64_t slot, bool cleared) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = NULL, cleared = ?2 WHERE slot = ?1");
  Execution(update).bind(1, as_integer(slot)).bind(2, std::int64_t{cleared ? 1 : 0}).step();
}

void GroupStore::remove_member(const GroupConfig& config, std::uint64_t slot) {
  const bool is_wide = slot / kSegmentFilters < config.wide_segments;
  if (!is_wide) {
    segments_.clear_filter(config, slot);
  }
  free_slot(slot, !is_wide);
}

bool GroupStore::with_member(std::uint64_t slot, const std::function<void(const Value&)>& f) {
  Execution run(tables_.prepared(kMemberOfSlot));
  if (!run.bind(1, as_integer(slot)).step() || run.type(0) == SQLITE_NULL) {
    return false;
  }
  f(run.value(0));
  return true;
}

void GroupStore::require_row(std::uint64_t slot) {
  Execution run(tables_.prepared(kMemberOfSlot));
  if (!run.bind(1, as_integer(slot)).step()) {
    damaged("the member of slot " + std::to_string(slot) + " is missing");
  }
}

CountedVector<std::uint64_t> GroupStore::used_slots(const GroupConfig& config) {
  const Statement select =
      tables_.statement("SELECT slot FROM {members} WHERE member IS NOT NULL ORDER BY slot");
  CountedVector<std::uint64_t> slots;
  Execution run(select);
  while (run.step()) {
    slots.push_back(slot_in(run.integer(0), config));
  }
  return slots;
}

bool GroupStore::has_free_slot_below(std::uint64_t end) {
  Execution run(tables_.prepared(
      "SELECT 1 FROM {members} WHERE member IS NULL AND slot >= 0 AND slot < ?1 LIMIT 1"));
  return run.bind(1, as_integer(end)).step();
}

CountedVector<FilterSet> GroupStore::live_filters(const GroupConfig& config) {
  CountedVector<FilterSet> live(as_size(config.segments), 0);
  for (const std::uint64_t slot : used_slots(config)) {
    live[as_size(slot / kSegmentFilters)] |= FilterSet{1} << slot % kSegmentFilters;
  }
  return live;
}

void GroupStore::widen(GroupConfig& config, std::uint64_t end) {
  const auto live = live_filters(config);
  const KeepLastRowid keep(db_);
  segments_.widen(config, std::span(live).first(as_size(end)));
  config.wide_segments = end;
  save_config(config);
}

void GroupStore::pack(GroupConfig& config) {
  const KeepLastRowid keep(db_);
  segments_.pack(config, live_filters(config));
  const auto slots = used_slots(config);
  tables_.run("DELETE FROM {members} WHERE member IS NULL");
  const Statement move = tables_.statement("UPDATE {members} SET slot = ?2 WHERE slot = ?1");
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] != i) {
      Execution(move).bind(1, as_integer(slots[i])).bind(2, static_cast<std::int64_t>(i)).step();
    }
  }
  config.segments = (slots.size() + kSegmentFilters - 1) / kSegmentFilters;
  config.wide_segments = 0;
  save_config(config);
}

void GroupStore::drop_segments(GroupConfig& config, std::uint64_t first) {
  segments_.drop_from(config, first);
  const Statement erase = tables_.statement("DELETE FROM {members} WHERE slot >= ?1");
  Execution(erase).bind(1, as_integer(first * kSegmentFilters)).step();
  config.segments = first;
  save_config(config);
}

std::uint64_t GroupStore::member_count() {
  const Statement count = tables_.statement("SELECT 1 FROM {members} WHERE member IS NOT NULL");
  return Execution(count).count_rows();
}

std::uint64_t GroupStore::end_of_slots(const GroupConfig& config) {
  const Statement last = tables_.statement("SELECT slot FROM {members} ORDER BY slot DESC LIMIT 1");
  Execution run(last);
  return run.step() ? slot_in(run.integer(0), config) + 1 : 0;
}

std::uint64_t GroupStore::end_of_members(const GroupConfig& config) {
  const Statement last = tables_.statement(
      "SELECT slot FROM {members} WHERE member IS NOT NULL ORDER BY slot DESC LIMIT 1");
  Execution run(last);
  return run.step() ? slot_in(run.integer(0), config) + 1 : 0;
}

void GroupStore::clear(GroupConfig& config) {
  ++writes_;
  tables_.run("DELETE FROM {members}");
  if (config.has_row_log) {
    log_.clear();
  }
  segments_.clear();
  config.segments = config.wide_segments = 0;
  save_config(config);
}

void GroupStore::check(const GroupConfig& config) {
  segments_.check(config);
  const Statement select = tables_.statement("SELECT slot FROM {members} ORDER BY slot");
  Execution run(select);
  std::uint64_t slots = 0;
  bool in_order = true;
  for (; run.step(); ++slots) {
    in_order = in_order && run.integer(0) == as_integer(slots);
  }
  const std::uint64_t wanted = (slots + kSegmentFilters - 1) / kSegmentFilters;
  if (config.segments != wanted) {
    damaged("there are " + std::to_string(config.segments) + " segments instead of " +
            std::to_string(wanted));
  }
  if (!in_order) {
    damaged("the slots are not numbered from 0 on");
  }
  log_.read(config);
  if (config.has_row_log && !config.row_log_has_rows && log_.has_rows()) {
    damaged("the row log has rows, but the config says that it has none");
  }
}

}  // namespace bloom
