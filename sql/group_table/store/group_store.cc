#include "sql/group_table/store/group_store.h"

#include <utility>

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
constexpr std::int64_t kVersionIfRowLogHasRows = 17;  // while the row log may have rows

std::int64_t version_of(const GroupConfig& config) {
  return config.row_log_has_rows ? kVersionIfRowLogHasRows : kGroupVersion;
}

constexpr ShadowTable kGroupTables[] = {{"config", "(k PRIMARY KEY, v) WITHOUT ROWID", "k", "v"},
                                        GroupMembers::kTable,
                                        SegmentStore::kDataTable,
                                        SegmentStore::kWideTable,
                                        RowLog::kTable};

}  // namespace

GroupStore::GroupStore(sqlite3* db, std::string schema, std::string table)
    : db_(db),
      database_(db, schema),
      tables_(db, std::move(schema), std::move(table), kGroupTables),
      members_(tables_, writes_),
      row_log_(tables_, writes_),
      segments_(tables_, writes_) {}

bool GroupStore::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kGroupTables, suffix);
}

void GroupStore::create(const GroupConfig& config) {
  tables_.create();
  save_config(config);
}

const GroupConfig& GroupStore::config_for_lookup() {
  const auto version = database_.version_of_settled_rows();
  if (!version || version != known_version_) {
    known_version_.reset();
    known_config_ = load_config();
    // With a shared cache, another connection can commit meanwhile.
    if (database_.data_version() == version) {
      known_version_ = version;
    }
  }
  return known_config_;
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
      config.row_log_has_rows = version == kVersionIfRowLogHasRows;
    } else if (name == "rowlog") {
      config.has_row_log = true;
    } else if (name == "header" && run.type(1) == SQLITE_BLOB) {
      config.header = header_in_config(run.blob(1));
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
    throw_damaged("the config has no version, or values that are not valid");
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

CountedVector<SlotKey> GroupStore::row_log_keys(const GroupConfig& config, SegmentRange range) {
  const BitSlicedFilters filters(config.header.shape);
  CountedVector<SlotKey> keys;
  read_row_log(config).for_each([&](const GroupRowLog::Key& key) {
    const SlotKey found{filters.chunk_of(key.hash), key.slot, key.hash};
    if (range.first <= found.segment() && found.segment() < range.end) {
      keys.push_back(found);
    }
  });
  return keys;
}

CountedVector<Estimate> GroupStore::estimates(const GroupConfig& config, SegmentRange range) {
  CountedVector<SlotKey> keys = row_log_keys(config, range);
  sort_by_row(keys);
  return segments_.estimates(config, range, keys);
}

std::uint64_t GroupStore::add_member(const Value& member, GroupConfig& config) {
  const KeepLastRowid keep(db_);
  ++writes_;
  if (const auto slot = members_.take_free_slot(config, member)) {
    return *slot;
  }
  const std::int64_t slot = members_.append(member);
  if (slot == as_integer(config.segments * kSegmentFilters)) {
    segments_.add_segment(config);
    ++config.segments;
    save_config(config);
  }
  return slot_in(slot, config);
}

void GroupStore::remove_member(const GroupConfig& config, std::uint64_t slot) {
  const bool is_wide = slot / kSegmentFilters < config.wide_segments;
  if (!is_wide) {
    segments_.clear_filter(config, slot);
  }
  members_.free_slot(slot, !is_wide);
}

void GroupStore::widen(GroupConfig& config, std::uint64_t end) {
  const auto live = members_.live_filters(config);
  const KeepLastRowid keep(db_);
  segments_.widen(config, std::span(live).first(as_size(end)));
  config.wide_segments = end;
  save_config(config);
}

void GroupStore::pack(GroupConfig& config) {
  const KeepLastRowid keep(db_);
  segments_.pack(config, members_.live_filters(config));
  config.segments = (members_.pack(config) + kSegmentFilters - 1) / kSegmentFilters;
  config.wide_segments = 0;
  save_config(config);
}

void GroupStore::drop_segments(GroupConfig& config, std::uint64_t first) {
  segments_.drop_from(config, first);
  members_.drop_from(first * kSegmentFilters);
  config.segments = first;
  save_config(config);
}

void GroupStore::clear(GroupConfig& config) {
  members_.clear();
  if (config.has_row_log) {
    row_log_.clear();
  }
  segments_.clear();
  config.segments = config.wide_segments = 0;
  save_config(config);
}

void GroupStore::check(const GroupConfig& config) {
  segments_.check(config);
  members_.check(config);
  row_log_.read(config);
  if (config.has_row_log && !config.row_log_has_rows && row_log_.has_rows()) {
    throw_damaged("the row log has rows, but the config says that it has none");
  }
}

}  // namespace bloom
