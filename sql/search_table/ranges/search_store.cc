#include "sql/search_table/ranges/search_store.h"

#include <bit>
#include <utility>

#include "core/support/error.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::KeepLastRowid;
using sqlite::Statement;

// Version 2 has a filter over the whole table: programs that do not know it would not add new keys.
constexpr std::int64_t kSearchVersion = 1;
constexpr std::int64_t kVersionWithTableFilter = 2;
// A damaged config could name 2^30 free slots.
constexpr std::size_t kMostFreeSlots = std::size_t{1} << 16U;
constexpr int kFamilyShift = 60;
constexpr ShadowTable kSearchTables[] = {
    {"config", "(k PRIMARY KEY, v) WITHOUT ROWID", "k", "v"},
    {"ranges", "(id INTEGER PRIMARY KEY, first, last)", "id", "last"},
    SegmentStore::kDataTable,
    SegmentStore::kWideTable};

std::int64_t id_of(Family f, std::uint64_t slot) {
  return as_integer((static_cast<std::uint64_t>(f) << kFamilyShift) + slot);
}
std::uint64_t slot_of(std::int64_t id) {
  return static_cast<std::uint64_t>(id) & ((std::uint64_t{1} << kFamilyShift) - 1);
}

RowidRange range_in(const Execution& run, int column) {
  const RowidRange range{run.integer(column), run.integer(column + 1)};
  if (run.type(column) != SQLITE_INTEGER || run.type(column + 1) != SQLITE_INTEGER ||
      range.last < range.first) {
    throw_damaged("a range has rowids that are not valid");
  }
  return range;
}

const char* const kNames[] = {"keys", "grams"};

}  // namespace

SearchStore::SearchStore(sqlite3* db, std::string schema, std::string table)
    : db_(db),
      tables_(db, std::move(schema), std::move(table), kSearchTables),
      segments_{SegmentStore(tables_, writes_, 0), SegmentStore(tables_, writes_, 1)},
      table_filter_(tables_, writes_) {}

bool SearchStore::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kSearchTables, suffix);
}

void SearchStore::create(const SearchConfig& config) {
  tables_.create();
  save_config(config);
}

// One row has the numbers of a family: the header, and a text with the counts.
SearchConfig SearchStore::load_config() {
  SearchConfig config;
  std::int64_t version = 0;
  int families = 0;
  Execution run(tables_.prepared("SELECT k, v FROM {config}"));
  while (run.step()) {
    const std::string_view name = run.type(0) == SQLITE_TEXT ? run.value(0).text() : "";
    if (name == "version") {
      version = run.integer(1);
    } else if (name == "covered" && run.type(1) == SQLITE_INTEGER) {
      config.covered = run.integer(1);
    } else if (name == "rows") {
      config.most_rows_read = static_cast<std::uint64_t>(run.integer(1));
    } else if (name == "guard" && run.type(1) == SQLITE_TEXT) {
      config.guard = run.value(1).text();
    } else if (name == "whole" && run.type(1) == SQLITE_BLOB) {
      config.table_filter.header = header_in_config(run.blob(1));
    } else if (name == "whole_keys") {
      config.table_filter.keys = static_cast<std::uint64_t>(run.integer(1));
    } else if (name == "whole_columns" && run.type(1) == SQLITE_TEXT) {
      config.table_filter.columns = run.value(1).text();
    }
    for (const Family f : kFamilies) {
      const std::string_view own = kNames[static_cast<std::size_t>(f)];
      FamilyConfig& family = config.of(f);
      if (!name.starts_with(own)) {
        continue;
      }
      const std::string_view field = name.substr(own.size());
      const auto number = static_cast<std::uint64_t>(run.integer(1));
      if (field.empty() && run.type(1) == SQLITE_BLOB) {
        family.header = header_in_config(run.blob(1));
        ++families;
      } else if (field == "_segments") {
        family.segments = number;
      } else if (field == "_wide") {
        family.wide_segments = number;
      } else if (field == "_ranges") {
        family.ranges = number;
      }
    }
  }
  if (version != kSearchVersion && version != kVersionWithTableFilter && version != 0) {
    fail("the table is of version " + std::to_string(version) + ", which this build does not know");
  }
  if (config.table_filter.is_used() != (version == kVersionWithTableFilter) ||
      config.table_filter.header.shape.kind != Kind::standard) {
    throw_damaged("the config has a filter over the whole table that its version does not allow");
  }
  for (const FamilyConfig& family : config.families) {
    const Shape& shape = family.header.shape;
    if (version == 0 || families == 0 || family.segments > kMaxSegments ||
        family.wide_segments > family.segments ||
        (family.is_used() && (shape.kind != Kind::standard || shape.block != kSegmentBlock))) {
      throw_damaged("the config has no version, or values that are not valid");
    }
  }
  return config;
}

void SearchStore::save_config(const SearchConfig& config) {
  ++writes_;
  const Statement replace = tables_.statement("REPLACE INTO {config} VALUES (?1, ?2)");
  const auto put = [&](const std::string& name, std::uint64_t value) {
    Execution(replace).bind(1, name).bind(2, as_integer(value)).step();
  };
  put("version", config.table_filter.is_used() ? kVersionWithTableFilter : kSearchVersion);
  put("rows", config.most_rows_read);
  if (config.covered) {
    put("covered", static_cast<std::uint64_t>(*config.covered));
  } else {
    tables_.run("DELETE FROM {config} WHERE k = 'covered'");
  }
  Execution(replace).bind(1, "guard").bind(2, config.guard).step();
  if (config.table_filter.is_used()) {
    Execution(replace).bind(1, "whole").bind(2, write_header(config.table_filter.header)).step();
    put("whole_keys", config.table_filter.keys);
    Execution(replace).bind(1, "whole_columns").bind(2, config.table_filter.columns).step();
  } else {
    tables_.run("DELETE FROM {config} WHERE k IN ('whole', 'whole_keys', 'whole_columns')");
  }
  for (const Family f : kFamilies) {
    const FamilyConfig& family = config.of(f);
    const std::string name = kNames[static_cast<std::size_t>(f)];
    if (family.is_used()) {
      const auto header = write_header(family.header);
      Execution(replace).bind(1, name).bind(2, header).step();
      put(name + "_segments", family.segments);
      put(name + "_wide", family.wide_segments);
      put(name + "_ranges", family.ranges);
    }
  }
}

CountedVector<StoredRange> SearchStore::ranges(Family f) {
  CountedVector<StoredRange> ranges;
  const Statement select = tables_.statement(
      "SELECT id, first, last FROM {ranges} WHERE id BETWEEN ?1 AND ?2 ORDER BY first");
  Execution run(select);
  run.bind(1, id_of(f, 0)).bind(2, id_of(f, kMaxSegments * kSegmentFilters));
  while (run.step()) {
    ranges.push_back({slot_of(run.integer(0)), range_in(run, 1)});
  }
  return ranges;
}

void SearchStore::for_each_range(Family f, std::uint64_t segment, FilterSet slots,
                                 const std::function<void(RowidRange)>& use) {
  const Statement& select =
      tables_.prepared("SELECT id, first, last FROM {ranges} WHERE id BETWEEN ?1 AND ?2");
  const std::uint64_t first = segment * kSegmentFilters;
  Execution run(select);
  run.bind(1, id_of(f, first + static_cast<unsigned>(std::countr_zero(slots))))
      .bind(2,
            id_of(f, first + kSegmentFilters - 1 - static_cast<unsigned>(std::countl_zero(slots))));
  while (run.step()) {
    if ((slots >> slot_of(run.integer(0)) % kSegmentFilters & 1U) != 0) {
      use(range_in(run, 1));
    }
  }
}

CountedVector<std::uint64_t> SearchStore::free_slots(Family f, const FamilyConfig& config) {
  CountedVector<std::uint64_t> slots;
  const Statement select =
      tables_.statement("SELECT id FROM {ranges} WHERE id >= ?1 AND id < ?2 ORDER BY id");
  Execution run(select);
  const std::uint64_t end = config.segments * kSegmentFilters;
  std::uint64_t next = config.wide_segments * kSegmentFilters;
  run.bind(1, id_of(f, next)).bind(2, id_of(f, end));
  while (next < end && slots.size() < kMostFreeSlots) {
    const std::uint64_t used = run.step() ? slot_of(run.integer(0)) : end;
    for (; next < used && slots.size() < kMostFreeSlots; ++next) {
      slots.push_back(next);
    }
    ++next;
  }
  return slots;
}

void SearchStore::put_range(Family f, const StoredRange& range) {
  const KeepLastRowid keep(db_);
  ++writes_;
  Execution(tables_.prepared("INSERT INTO {ranges} VALUES (?1, ?2, ?3)"))
      .bind(1, id_of(f, range.slot))
      .bind(2, range.rows.first)
      .bind(3, range.rows.last)
      .step();
}

void SearchStore::remove_range(Family f, std::uint64_t slot) {
  ++writes_;
  Execution(tables_.prepared("DELETE FROM {ranges} WHERE id = ?1")).bind(1, id_of(f, slot)).step();
}

void SearchStore::clear(Family f, FamilyConfig& config) {
  ++writes_;
  Execution(tables_.prepared("DELETE FROM {ranges} WHERE id BETWEEN ?1 AND ?2"))
      .bind(1, id_of(f, 0))
      .bind(2, id_of(f, kMaxSegments * kSegmentFilters))
      .step();
  segments(f).clear();
  config.segments = config.wide_segments = config.ranges = 0;
}

void SearchStore::widen(Family f, FamilyConfig& config) {
  const std::uint64_t end = config.segments;
  CountedVector<FilterSet> live(as_size(end), 0);
  for (const StoredRange& range : ranges(f)) {
    if (range.slot / kSegmentFilters < end) {
      live[as_size(range.slot / kSegmentFilters)] |= FilterSet{1} << range.slot % kSegmentFilters;
    }
  }
  const KeepLastRowid keep(db_);
  segments(f).widen(config, live);
  config.wide_segments = end;
}

void SearchStore::check(const SearchConfig& config) {
  table_filter_.check(config.table_filter);
  for (const Family f : kFamilies) {
    const FamilyConfig& family = config.of(f);
    if (!family.is_used()) {
      continue;
    }
    segments(f).check(family);
    const auto all = ranges(f);
    if (all.size() != family.ranges) {
      throw_damaged("there are " + std::to_string(all.size()) + " ranges instead of " +
                    std::to_string(family.ranges));
    }
    const RowidRange* before = nullptr;
    for (const StoredRange& range : all) {
      if (range.slot / kSegmentFilters >= family.segments ||
          (before != nullptr && range.rows.first <= before->last) || !config.covered ||
          range.rows.last > *config.covered) {
        throw_damaged("the ranges overlap, have no filter, or are not covered");
      }
      before = &range.rows;
    }
  }
}

}  // namespace bloom
