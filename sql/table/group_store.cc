#include "sql/table/group_store.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/support/error.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/table/damage.h"
#include "sql/table/store.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::KeepLastRowid;
using sqlite::Statement;
using sqlite::Value;

constexpr std::int64_t kGroupVersion = 1;
constexpr std::string_view kGroupTables[] = {"config", "members", "data", "wide"};

// Limits of the ids: see the top of the header.
constexpr unsigned kSegmentBits = 24;
constexpr unsigned kPositionBits = 40;
constexpr std::uint64_t kMaxSegments = std::uint64_t{1} << kSegmentBits;

constexpr char kMemberOfSlot[] = "SELECT member FROM {members} WHERE slot = ?1";

std::string segment_chunk_name(std::uint64_t i, std::uint64_t segment) {
  return "chunk " + std::to_string(i) + " of segment " + std::to_string(segment);
}

std::uint64_t chunk_id(std::uint64_t i, std::uint64_t segment) {
  return (i << kSegmentBits) + segment;
}
std::uint64_t wide_id(std::uint64_t row, std::uint64_t p) { return row << kPositionBits | p; }
std::uint64_t segment_of(std::uint64_t id) { return id & (kMaxSegments - 1); }

std::int64_t as_integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }
// For sizes and positions in memory, which are smaller than 2^32 on 32-bit machines.
std::size_t as_size(std::uint64_t value) { return static_cast<std::size_t>(value); }

// Returns the slot in column 0.
std::uint64_t slot_in(const Execution& run, const GroupConfig& config) {
  const auto slot = static_cast<std::uint64_t>(run.integer(0));
  if (slot / kSegmentFilters >= config.segments) {
    damaged("slot " + std::to_string(run.integer(0)) + " belongs to no segment");
  }
  return slot;
}

std::string words_name(std::uint64_t row, std::uint64_t p) {
  return std::string("the words of row ") + std::to_string(row) + " at position " +
         std::to_string(p);
}

}  // namespace

GroupStore::GroupStore(sqlite3* db, std::string schema, std::string table)
    : db_(db), tables_(db, std::move(schema), std::move(table), kGroupTables) {}

bool GroupStore::is_shadow(std::string_view suffix) {
  return ShadowTables::contains(kGroupTables, suffix);
}

void GroupStore::create(const GroupConfig& config) {
  tables_.create("{config}(k PRIMARY KEY, v) WITHOUT ROWID");
  tables_.create("{members}(slot INTEGER PRIMARY KEY, member UNIQUE, cleared)");
  tables_.create("{data}(id INTEGER PRIMARY KEY, chunk BLOB)");
  tables_.create("{wide}(id INTEGER PRIMARY KEY, words BLOB)");
  save_config(config);
}

GroupConfig GroupStore::load_config() {
  GroupConfig config;
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
      config.wide = static_cast<std::uint64_t>(run.integer(1));
      ++sizes;
    } else if (name == "summarized") {
      if (run.type(1) != SQLITE_INTEGER) {
        damaged("the last rowid of the ranges must be an integer");
      }
      config.summarized = run.integer(1);
    } else if (name == "guard" && run.type(1) == SQLITE_TEXT) {
      config.guard_index = run.value(1).text();
    }
  }
  if (version != kGroupVersion && version != 0) {
    throw Error(Error::Kind::invalid, "the table is of version " + std::to_string(version) +
                                          ", which this build does not know");
  }
  const Shape& shape = config.header.shape;
  if (version == 0 || !has_header || sizes != 2 || shape.kind != Kind::standard ||
      shape.block != kSegmentBlock || config.segments > kMaxSegments ||
      config.wide > config.segments) {
    damaged("the config has no version, or values that are not valid");
  }
  return config;
}

std::string GroupStore::load_guard() {
  return bloom::load_guard(db_, schema(), tables_.name("config"));
}

void GroupStore::save_config(const GroupConfig& config) {
  ++writes_;
  const Statement replace = tables_.statement("REPLACE INTO {config} VALUES (?1, ?2)");
  const auto header = write_header(config.header);
  Execution(replace).bind(1, "version").bind(2, kGroupVersion).step();
  Execution(replace).bind(1, "header").bind(2, header).step();
  Execution(replace).bind(1, "segments").bind(2, as_integer(config.segments)).step();
  Execution(replace).bind(1, "wide").bind(2, as_integer(config.wide)).step();
  if (config.summarized) {
    Execution(replace).bind(1, "summarized").bind(2, *config.summarized).step();
  } else {
    tables_.run("DELETE FROM {config} WHERE k = 'summarized'");
  }
  if (!config.guard_index.empty()) {
    Execution(replace).bind(1, "guard").bind(2, config.guard_index).step();
  }
}

std::optional<std::uint64_t> GroupStore::slot_of(const GroupConfig& config, const Member& member) {
  Execution run(tables_.prepared("SELECT slot FROM {members} WHERE member = ?1"));
  member.bind_to(run, 1);
  return run.step() ? std::optional(slot_in(run, config)) : std::nullopt;
}

std::vector<std::uint64_t> GroupStore::slots_equal_to(const GroupConfig& config,
                                                      const Value& value) {
  std::vector<std::uint64_t> slots;
  Execution run(
      tables_.prepared("SELECT slot FROM {members} WHERE member IN (?1, CAST(?1 AS TEXT), "
                       "CAST(CAST(?1 AS INTEGER) AS TEXT), CAST(?1 AS NUMERIC))"));
  run.bind(1, value);
  while (run.step()) {
    slots.push_back(slot_in(run, config));
  }
  return slots;
}

std::uint64_t GroupStore::add_member(const Member& member, GroupConfig& config) {
  const KeepLastRowid keep(db_);
  ++writes_;
  if (const auto slot = take_free_slot(config, member)) {
    return *slot;
  }
  const Statement& insert = tables_.prepared(
      "INSERT INTO {members} SELECT ifnull(max(slot) + 1, 0), ?1, NULL FROM {members}");
  {
    Execution run(insert);
    member.bind_to(run, 1);
    run.step();
  }
  Execution run(tables_.prepared("SELECT max(slot) FROM {members}"));
  run.step();
  if (run.integer(0) == as_integer(config.segments * kSegmentFilters)) {
    add_segment(config);
  }
  return slot_in(run, config);
}

std::optional<std::uint64_t> GroupStore::take_free_slot(const GroupConfig& config,
                                                        const Member& member) {
  std::uint64_t slot = 0;
  {
    Execution run(
        tables_.prepared("SELECT slot FROM {members} WHERE member IS NULL AND cleared = 1 "
                         "ORDER BY slot LIMIT 1"));
    if (!run.step()) {
      return std::nullopt;
    }
    slot = slot_in(run, config);
  }
  rename_member(slot, member);
  return slot;
}

void GroupStore::rename_member(std::uint64_t slot, const Member& member) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = ?2, cleared = NULL WHERE slot = ?1");
  Execution run(update);
  member.bind_to(run.bind(1, as_integer(slot)), 2);
  run.step();
}

void GroupStore::free_slot(std::uint64_t slot, bool cleared) {
  ++writes_;
  const Statement& update =
      tables_.prepared("UPDATE {members} SET member = NULL, cleared = ?2 WHERE slot = ?1");
  Execution(update).bind(1, as_integer(slot)).bind(2, std::int64_t{cleared ? 1 : 0}).step();
}

void GroupStore::set_cleared() {
  ++writes_;
  tables_.run("UPDATE {members} SET cleared = 1 WHERE member IS NULL");
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
  if (!run.bind(1, as_integer(slot)).step() && slot / kSegmentFilters < load_config().segments) {
    damaged("the member of slot " + std::to_string(slot) + " is missing");
  }
}

std::vector<std::uint64_t> GroupStore::used_slots(const GroupConfig& config) {
  const Statement select =
      tables_.statement("SELECT slot FROM {members} WHERE member IS NOT NULL ORDER BY slot");
  std::vector<std::uint64_t> slots;
  Execution run(select);
  while (run.step()) {
    slots.push_back(slot_in(run, config));
  }
  return slots;
}

std::vector<std::uint64_t> GroupStore::free_slots_below(std::uint64_t end) {
  std::vector<std::uint64_t> slots;
  Execution run(tables_.prepared(
      "SELECT slot FROM {members} WHERE member IS NULL AND slot >= 0 AND slot < ?1 "
      "ORDER BY slot"));
  run.bind(1, as_integer(end));
  while (run.step()) {
    slots.push_back(static_cast<std::uint64_t>(run.integer(0)));
  }
  return slots;
}

// A lookup calls this. If the config had too few segments, members would be missing from the
// result, so a further chunk is reported as damage. Looking for it reads one page more.
void GroupStore::for_each_data_chunk(const GroupConfig& config, std::uint64_t i,
                                     const EachChunk& f) {
  Execution run(data_chunks());
  run.bind(1, as_integer(chunk_id(i, config.wide))).bind(2, as_integer(chunk_id(i, kMaxSegments)));
  step_data_chunks(run, {config.wide, config.segments}, i, f);
  if (run.step()) {
    const std::uint64_t next = segment_of(static_cast<std::uint64_t>(run.integer(0)));
    damaged(segment_chunk_name(i, next) + " exists, but the config has " +
            std::to_string(config.segments) + " segments");
  }
}

void GroupStore::with_chunk(std::uint64_t i, std::uint64_t segment,
                            const std::function<void(const std::uint8_t*)>& f) {
  Execution run(tables_.prepared("SELECT chunk FROM {data} WHERE id = ?1"));
  if (!run.bind(1, as_integer(chunk_id(i, segment))).step()) {
    damaged(segment_chunk_name(i, segment) + " is missing");
  }
  f(sized_blob(run, 0, kChunkBytes, [&] { return segment_chunk_name(i, segment); }).data());
}

void GroupStore::for_each_chunk_in(const GroupConfig& config, SegmentRange range, std::uint64_t i,
                                   const EachChunk& f) {
  for_each_wide_chunk(config, {range.first, std::min(range.end, config.wide)}, i, f);
  read_data_chunks({std::max(range.first, config.wide), range.end}, i, f);
}

// Collects chunk i of the segments of each row of _wide from its words. Requires: the segments are
// in _wide.
void GroupStore::for_each_wide_chunk(const GroupConfig& config, SegmentRange range, std::uint64_t i,
                                     const EachChunk& f) {
  WideReader reader(*this, config);
  while (range.first < range.end) {
    const std::uint64_t row = range.first / kSegmentsPerRow;
    const std::uint64_t end = std::min(range.end, (row + 1) * kSegmentsPerRow);
    std::vector<std::uint8_t> chunks(as_size(end - range.first) * kChunkBytes);
    for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
      reader.for_each_word(
          {range.first, end}, i * kSegmentBlock + p, [&](std::size_t segment, FilterSet word) {
            store_le(chunks.data() + segment * kChunkBytes + p * sizeof word, word);
          });
    }
    for (std::uint64_t segment = range.first; segment < end; ++segment) {
      f(segment, chunks.data() + (segment - range.first) * kChunkBytes);
    }
    range.first = end;
  }
}

const Statement& GroupStore::data_chunks() {
  return tables_.prepared("SELECT id, chunk FROM {data} WHERE id >= ?1 AND id < ?2 ORDER BY id");
}

// Requires: the segments are in _data.
void GroupStore::read_data_chunks(SegmentRange range, std::uint64_t i, const EachChunk& f) {
  Execution run(data_chunks());
  run.bind(1, as_integer(chunk_id(i, range.first))).bind(2, as_integer(chunk_id(i, range.end)));
  step_data_chunks(run, range, i, f);
}

void GroupStore::step_data_chunks(Execution& run, SegmentRange range, std::uint64_t i,
                                  const EachChunk& f) {
  for (std::uint64_t segment = range.first; segment < range.end; ++segment) {
    if (!run.step() || segment_of(static_cast<std::uint64_t>(run.integer(0))) != segment) {
      damaged(segment_chunk_name(i, segment) + " is missing");
    }
    f(segment,
      sized_blob(run, 1, kChunkBytes, [&] { return segment_chunk_name(i, segment); }).data());
  }
}

void GroupStore::add_segment(GroupConfig& config) {
  if (config.segments == kMaxSegments) {
    fail("the table has the largest number of members, " +
         std::to_string(kMaxSegments * kSegmentFilters));
  }
  const Statement insert = tables_.statement(
      "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT ?1) "
      "INSERT INTO {data} SELECT (i << " +
      std::to_string(kSegmentBits) + ") + ?2, zeroblob(" + std::to_string(kChunkBytes) +
      ") FROM c");
  Execution(insert)
      .bind(1, as_integer(config.chunks_per_segment()))
      .bind(2, as_integer(config.segments))
      .step();
  ++config.segments;
  save_config(config);
}

// Writes chunk i of the segments in `range`, which are all segments of row `row` of _wide. live[s]
// are the filters of segment s whose bits are kept.
void GroupStore::widen_row(const GroupConfig& config, std::uint64_t row, SegmentRange range,
                           std::uint64_t i, std::span<const FilterSet> live) {
  const std::uint64_t count = range.end - range.first;
  // The words of all segments at the first position, then at the next one, and so on.
  std::vector<std::uint8_t> words(as_size(kSegmentBlock * count) * sizeof(FilterSet));
  for_each_chunk_in(config, range, i, [&](std::uint64_t segment, const std::uint8_t* chunk) {
    const std::uint64_t column = segment - range.first;
    for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
      store_le(words.data() + (p * count + column) * sizeof(FilterSet),
               load_le<FilterSet>(chunk + p * sizeof(FilterSet)) & live[as_size(segment)]);
    }
  });
  const std::size_t size = as_size(count) * sizeof(FilterSet);
  const Statement replace = tables_.statement("REPLACE INTO {wide} VALUES (?1, ?2)");
  for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
    Execution(replace)
        .bind(1, as_integer(wide_id(row, i * kSegmentBlock + p)))
        .bind(2, std::span<const std::uint8_t>(words).subspan(as_size(p) * size, size))
        .step();
  }
}

void GroupStore::widen(GroupConfig& config, std::uint64_t end) {
  std::vector<FilterSet> live(as_size(end), ~FilterSet{0});
  for (const std::uint64_t slot : free_slots_below(end * kSegmentFilters)) {
    live[as_size(slot / kSegmentFilters)] &= ~(FilterSet{1} << slot % kSegmentFilters);
  }
  const Statement erase = tables_.statement("DELETE FROM {data} WHERE id >= ?1 AND id < ?2");
  const KeepLastRowid keep(db_);
  ++writes_;
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for (std::uint64_t row = 0; row * kSegmentsPerRow < end; ++row) {
      const std::uint64_t first = row * kSegmentsPerRow;
      widen_row(config, row, {first, std::min(first + kSegmentsPerRow, end)}, i, live);
    }
    Execution(erase)
        .bind(1, as_integer(chunk_id(i, config.wide)))
        .bind(2, as_integer(chunk_id(i, end)))
        .step();
  }
  set_cleared();
  config.wide = end;
  save_config(config);
}

std::uint64_t GroupStore::member_count() {
  const Statement count = tables_.statement("SELECT count(member) FROM {members}");
  Execution run(count);
  run.step();
  return static_cast<std::uint64_t>(run.integer(0));
}

std::uint64_t GroupStore::full_segments(const GroupConfig& config) {
  const Statement last = tables_.statement("SELECT slot FROM {members} ORDER BY slot DESC LIMIT 1");
  Execution run(last);
  return run.step() ? (slot_in(run, config) + 1) / kSegmentFilters : 0;
}

void GroupStore::add_filter(const GroupConfig& config, std::uint64_t slot,
                            const std::uint8_t* cells) {
  GroupWriter writer(*this, config);
  const std::uint64_t segment = slot / kSegmentFilters;
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    const std::span block(cells + i * kFilterBlockBytes, kFilterBlockBytes);
    if (segment >= config.wide) {
      writer.change_chunk(i, segment, [&](std::uint8_t* chunk) {
        add_block(block, slot % kSegmentFilters, chunk);
      });
      continue;
    }
    add_wide_block(writer, slot, i, block.data());
  }
}

void GroupStore::add_wide_block(GroupWriter& writer, std::uint64_t slot, std::uint64_t i,
                                const std::uint8_t* block) {
  for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
    if (Bits::get(block, p) != 0) {
      writer.set_wide_bit(slot, i * kSegmentBlock + p);
    }
  }
}

void GroupStore::clear_filter(const GroupConfig& config, std::uint64_t slot) {
  GroupWriter writer(*this, config);
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    writer.change_chunk(i, slot / kSegmentFilters, [&](std::uint8_t* chunk) {
      clear_filters(FilterSet{1} << slot % kSegmentFilters, chunk);
    });
  }
}

void GroupStore::replace_filters(const GroupConfig& config, std::span<const SlotCells> filters) {
  const std::uint64_t segment = filters.front().slot / kSegmentFilters;
  FiltersOfSegment cells{};
  FilterSet replaced = 0;
  for (const SlotCells& filter : filters) {
    cells[filter.slot % kSegmentFilters] = &filter.cells;
    replaced |= FilterSet{1} << filter.slot % kSegmentFilters;
  }
  GroupWriter writer(*this, config);
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    if (segment >= config.wide) {
      writer.change_chunk(i, segment, [&](std::uint8_t* chunk) {
        clear_filters(replaced, chunk);
        add_cells(cells, i, chunk);
      });
      continue;
    }
    for (const SlotCells& filter : filters) {
      add_wide_block(writer, filter.slot, i, filter.cells.block(i));
    }
  }
}

Filter GroupStore::filter_of(const GroupConfig& config, std::uint64_t slot) {
  Filter filter(config.header);
  const std::uint64_t segment = slot / kSegmentFilters;
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for_each_chunk_in(config, {segment, segment + 1}, i, [&](auto, const std::uint8_t* chunk) {
      const FilterBlock block = filter_blocks(chunk)[slot % kSegmentFilters];
      std::copy(block.begin(), block.end(), filter.cells() + i * kFilterBlockBytes);
    });
  }
  return filter;
}

std::vector<Estimate> GroupStore::estimates(const GroupConfig& config, SegmentRange range) {
  std::vector<Estimator> estimators(as_size(range.end - range.first) * kSegmentFilters,
                                    Estimator(config.header.shape));
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for_each_chunk_in(config, range, i, [&](std::uint64_t segment, const std::uint8_t* chunk) {
      const auto blocks = filter_blocks(chunk);
      Estimator* const of_segment = estimators.data() + (segment - range.first) * kSegmentFilters;
      for (unsigned j = 0; j < kSegmentFilters; ++j) {
        of_segment[j].add(i * kSegmentBlock, kSegmentBlock, blocks[j].data());
      }
    });
  }
  std::vector<Estimate> estimates;
  estimates.reserve(estimators.size());
  for (Estimator& estimator : estimators) {
    estimates.push_back(estimator.finish());
  }
  return estimates;
}

void GroupStore::clear() {
  GroupConfig config = load_config();
  ++writes_;
  for (const char* const erase :
       {"DELETE FROM {members}", "DELETE FROM {data}", "DELETE FROM {wide}"}) {
    tables_.run(erase);
  }
  config.segments = config.wide = 0;
  config.summarized.reset();
  save_config(config);
}

void GroupStore::check(const GroupConfig& config) {
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for_each_chunk_in(config, {0, config.segments}, i, [](auto, auto) {});
  }
  const Statement count = tables_.statement(
      "SELECT (SELECT count(*) FROM {data}), (SELECT count(*) FROM {wide}), count(*), "
      "ifnull(max(slot) + 1, 0), ifnull(min(slot), 0) FROM {members}");
  Execution run(count);
  run.step();
  const auto require = [&](std::int64_t rows, std::uint64_t wanted, const char* what) {
    if (rows != as_integer(wanted)) {
      damaged("there are " + std::to_string(rows) + " " + what + " instead of " +
              std::to_string(wanted));
    }
  };
  const std::uint64_t wide_rows = (config.wide + kSegmentsPerRow - 1) / kSegmentsPerRow;
  require(run.integer(0), (config.segments - config.wide) * config.chunks_per_segment(), "chunks");
  require(run.integer(1), wide_rows * config.header.shape.cells, "rows of words");
  const auto slots = static_cast<std::uint64_t>(run.integer(2));
  require(as_integer(config.segments), (slots + kSegmentFilters - 1) / kSegmentFilters, "segments");
  if (run.integer(3) != run.integer(2) || run.integer(4) != 0) {
    damaged("the slots are not numbered from 0 on");
  }
}

void WideReader::read(std::uint64_t row, std::uint64_t p, std::uint64_t first,
                      std::span<std::uint8_t> words) {
  const std::size_t size = as_size(segments_in_row(config_.wide, row)) * sizeof(FilterSet);
  if (words_.open(as_integer(wide_id(row, p))) != size) {
    damaged(words_name(row, p) + " must be a blob of " + std::to_string(size) + " bytes");
  }
  words_.read(as_size(first) * sizeof(FilterSet), words);
}

void WideReader::intersect(std::uint64_t row, std::uint64_t p, std::span<FilterSet> found) {
  const std::uint64_t first = row * kSegmentsPerRow;
  for_each_word({first, first + segments_in_row(config_.wide, row)}, p,
                [&](std::size_t i, FilterSet word) { found[i] &= word; });
}

void GroupWriter::open(RowWriter& row, std::uint64_t id, std::size_t size) {
  ++store_.writes_;
  if (row.open(as_integer(id)) != size) {
    damaged("row " + std::to_string(id) + " of the shadow tables must have " +
            std::to_string(size) + " bytes");
  }
}

void GroupWriter::change_chunk(std::uint64_t i, std::uint64_t segment,
                               const std::function<void(std::uint8_t*)>& change) {
  std::array<std::uint8_t, kChunkBytes> chunk;
  open(chunk_, chunk_id(i, segment), chunk.size());
  chunk_.read(0, chunk);
  change(chunk.data());
  chunk_.write(0, chunk);
}

void GroupWriter::set_wide_bit(std::uint64_t slot, std::uint64_t p) {
  const std::uint64_t segment = slot / kSegmentFilters;
  const std::uint64_t row = segment / kSegmentsPerRow;
  open(words_, wide_id(row, p), as_size(segments_in_row(config_.wide, row)) * sizeof(FilterSet));
  const std::uint64_t bit = slot - row * kSegmentsPerRow * kSegmentFilters;
  std::uint8_t byte = 0;
  words_.read(as_size(bit / 8), {&byte, 1});
  byte = static_cast<std::uint8_t>(byte | 1U << bit % 8);
  words_.write(as_size(bit / 8), {&byte, 1});
}

}  // namespace bloom
