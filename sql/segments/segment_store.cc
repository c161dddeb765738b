#include "sql/segments/segment_store.h"

#include <cassert>
#include <string>
#include <utility>

#include "core/layout/cells.h"
#include "core/layout/chunk_layout.h"
#include "core/operations/estimate.h"
#include "core/support/error.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::Statement;

constexpr unsigned kPositionBits = 40;  // see the ids at the top of the header

std::string segment_chunk_name(std::uint64_t i, std::uint64_t segment) {
  return "chunk " + std::to_string(i) + " of segment " + std::to_string(segment);
}

std::uint64_t segment_of(std::uint64_t id) { return id & (kMaxSegments - 1); }

std::string words_name(std::uint64_t row, std::uint64_t p) {
  return std::string("the words of row ") + std::to_string(row) + " at position " +
         std::to_string(p);
}

void require_rows(std::int64_t rows, std::uint64_t wanted, const char* what) {
  if (rows != as_integer(wanted)) {
    throw_damaged("there are " + std::to_string(rows) + " " + what + " instead of " +
                  std::to_string(wanted));
  }
}

}  // namespace

void sort_by_row(std::span<SlotKey> keys) {
  std::sort(keys.begin(), keys.end(), [](const SlotKey& a, const SlotKey& b) {
    return std::pair(a.chunk, a.segment()) < std::pair(b.chunk, b.segment());
  });
}

std::uint64_t SegmentStore::chunk_id(std::uint64_t i, std::uint64_t segment) const {
  return first_id_ + (i << kSegmentBits) + segment;
}

std::uint64_t SegmentStore::wide_id(std::uint64_t row, std::uint64_t p) const {
  return first_id_ + (row << kPositionBits | p);
}

// A lookup calls this. If the config had too few segments, members would be missing from the
// result, so a further chunk is reported as damage. Looking for it reads one page more.
void SegmentStore::for_each_data_chunk(const SegmentConfig& config, std::uint64_t i,
                                       const EachChunk& f) {
  Execution run(select_data_chunks());
  run.bind(1, as_integer(chunk_id(i, config.wide_segments)))
      .bind(2, as_integer(chunk_id(i, kMaxSegments)));
  step_data_chunks(run, {config.wide_segments, config.segments}, i, f);
  if (run.step()) {
    const std::uint64_t next = segment_of(static_cast<std::uint64_t>(run.integer(0)));
    throw_damaged(segment_chunk_name(i, next) + " exists, but the config has " +
                  std::to_string(config.segments) + " segments");
  }
}

void SegmentStore::with_chunk(std::uint64_t i, std::uint64_t segment,
                              const std::function<void(const std::uint8_t*)>& f) {
  Execution run(tables_.prepared("SELECT chunk FROM {data} WHERE id = ?1"));
  if (!run.bind(1, as_integer(chunk_id(i, segment))).step()) {
    throw_damaged(segment_chunk_name(i, segment) + " is missing");
  }
  f(sized_blob(run, 0, kChunkBytes, [&] { return segment_chunk_name(i, segment); }).data());
}

void SegmentStore::for_each_chunk_in(const SegmentConfig& config, SegmentRange range,
                                     std::uint64_t i, const EachChunk& f) {
  for_each_wide_chunk(config, {range.first, std::min(range.end, config.wide_segments)}, i, f);
  read_data_chunks({std::max(range.first, config.wide_segments), range.end}, i, f);
}

// Collects chunk i of the segments of each row of _wide from its words. Requires: the segments are
// in _wide.
void SegmentStore::for_each_wide_chunk(const SegmentConfig& config, SegmentRange range,
                                       std::uint64_t i, const EachChunk& f) {
  WideReader reader(*this, config);
  while (range.first < range.end) {
    const std::uint64_t row = range.first / kSegmentsPerRow;
    const std::uint64_t end = std::min(range.end, (row + 1) * kSegmentsPerRow);
    CountedVector<std::uint8_t> chunks(as_size(end - range.first) * kChunkBytes);
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

const Statement& SegmentStore::select_data_chunks() {
  return tables_.prepared("SELECT id, chunk FROM {data} WHERE id >= ?1 AND id < ?2 ORDER BY id");
}

// Requires: the segments are in _data.
void SegmentStore::read_data_chunks(SegmentRange range, std::uint64_t i, const EachChunk& f) {
  Execution run(select_data_chunks());
  run.bind(1, as_integer(chunk_id(i, range.first))).bind(2, as_integer(chunk_id(i, range.end)));
  step_data_chunks(run, range, i, f);
}

void SegmentStore::step_data_chunks(Execution& run, SegmentRange range, std::uint64_t i,
                                    const EachChunk& f) {
  for (std::uint64_t segment = range.first; segment < range.end; ++segment) {
    if (!run.step() || segment_of(static_cast<std::uint64_t>(run.integer(0))) != segment) {
      throw_damaged(segment_chunk_name(i, segment) + " is missing");
    }
    f(segment,
      sized_blob(run, 1, kChunkBytes, [&] { return segment_chunk_name(i, segment); }).data());
  }
}

void SegmentStore::add_segment(const SegmentConfig& config) {
  if (config.segments == kMaxSegments) {
    fail("the table has the largest number of members, " +
         std::to_string(kMaxSegments * kSegmentFilters));
  }
  const Statement insert = tables_.statement("INSERT INTO {data} VALUES (?1, ?2)");
  const std::array<std::uint8_t, kChunkBytes> empty{};
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    Execution(insert).bind(1, as_integer(chunk_id(i, config.segments))).bind(2, empty).step();
  }
}

// Writes chunk i of the segments in `range`, which are all segments of row `row` of _wide.
void SegmentStore::widen_row(const SegmentConfig& config, std::uint64_t row, SegmentRange range,
                             std::uint64_t i, std::span<const FilterSet> live) {
  const std::uint64_t count = range.end - range.first;
  // The words of all segments at the first position, then at the next one, and so on.
  CountedVector<std::uint8_t> words(as_size(kSegmentBlock * count) * sizeof(FilterSet));
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

void SegmentStore::widen(const SegmentConfig& config, std::span<const FilterSet> live) {
  const std::uint64_t end = live.size();
  const Statement erase = tables_.statement("DELETE FROM {data} WHERE id >= ?1 AND id < ?2");
  ++writes_;
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for (std::uint64_t row = config.wide_segments / kSegmentsPerRow; row * kSegmentsPerRow < end;
         ++row) {
      const std::uint64_t first = row * kSegmentsPerRow;
      widen_row(config, row, {first, std::min(first + kSegmentsPerRow, end)}, i, live);
    }
    Execution(erase)
        .bind(1, as_integer(chunk_id(i, config.wide_segments)))
        .bind(2, as_integer(chunk_id(i, end)))
        .step();
  }
}

void SegmentStore::add_filter(const SegmentConfig& config, std::uint64_t slot,
                              const std::uint8_t* cells) {
  SegmentWriter writer(*this, config);
  const std::uint64_t segment = slot / kSegmentFilters;
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    const std::span block(cells + i * kFilterBlockBytes, kFilterBlockBytes);
    if (segment >= config.wide_segments) {
      writer.change_chunk(i, segment, [&](std::uint8_t* chunk) {
        add_block(block, slot % kSegmentFilters, chunk);
      });
      continue;
    }
    add_wide_block(writer, slot, i, block.data());
  }
}

void SegmentStore::add_wide_block(SegmentWriter& writer, std::uint64_t slot, std::uint64_t i,
                                  const std::uint8_t* block) {
  for (std::uint64_t p = 0; p < kSegmentBlock; ++p) {
    if (Bits::get(block, p) != 0) {
      writer.set_wide_bit(slot, i * kSegmentBlock + p);
    }
  }
}

void SegmentStore::clear_filter(const SegmentConfig& config, std::uint64_t slot) {
  SegmentWriter writer(*this, config);
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    writer.change_chunk(i, slot / kSegmentFilters, [&](std::uint8_t* chunk) {
      clear_filters(FilterSet{1} << slot % kSegmentFilters, chunk);
    });
  }
}

void SegmentStore::replace_filters(const SegmentConfig& config,
                                   std::span<const SlotCells> filters) {
  const std::uint64_t segment = filters.front().slot / kSegmentFilters;
  FiltersOfSegment cells{};
  FilterSet replaced = 0;
  for (const SlotCells& filter : filters) {
    assert(filter.slot / kSegmentFilters == segment);
    assert(cells[filter.slot % kSegmentFilters] == nullptr);
    cells[filter.slot % kSegmentFilters] = &filter.cells;
    replaced |= FilterSet{1} << filter.slot % kSegmentFilters;
  }
  SegmentWriter writer(*this, config);
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    if (segment >= config.wide_segments) {
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

Filter SegmentStore::filter_of(const SegmentConfig& config, std::uint64_t slot) {
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

bool SegmentStore::may_contain(const SegmentConfig& config, std::uint64_t slot, Hash hash) {
  const BitSlicedFilters filters(config.header.shape);
  const std::uint64_t segment = slot / kSegmentFilters;
  const std::uint64_t chunk = filters.chunk_of(hash);
  const FilterSet own = FilterSet{1} << slot % kSegmentFilters;
  FilterSet found = own;
  if (segment >= config.wide_segments) {
    with_chunk(chunk, segment,
               [&](const std::uint8_t* cells) { found &= filters.may_contain(hash, cells); });
    return found != 0;
  }
  WideReader reader(*this, config);
  filters.for_each_position(hash, [&](std::uint64_t p) {
    if (found != 0) {
      reader.for_each_word({segment, segment + 1}, chunk * kSegmentBlock + p,
                           [&](auto, FilterSet word) { found &= word; });
    }
  });
  return found != 0;
}

CountedVector<Estimate> SegmentStore::estimates(const SegmentConfig& config, SegmentRange range,
                                                std::span<const SlotKey> added) {
  const BitSlicedFilters filters(config.header.shape);
  std::array<std::uint8_t, kChunkBytes> with_added;
  CountedVector<Estimator> estimators(as_size(range.end - range.first) * kSegmentFilters,
                                      Estimator(config.header.shape));
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for_each_chunk_in(config, range, i, [&](std::uint64_t segment, const std::uint8_t* chunk) {
      const auto is_of_chunk = [&] {
        return !added.empty() && added.front().chunk == i && added.front().segment() == segment;
      };
      if (is_of_chunk()) {
        std::copy_n(chunk, kChunkBytes, with_added.data());
        chunk = with_added.data();
      }
      for (; is_of_chunk(); added = added.subspan(1)) {
        filters.add(added.front().hash, FilterSet{1} << added.front().slot % kSegmentFilters,
                    with_added.data());
      }
      const auto blocks = filter_blocks(chunk);
      Estimator* const of_segment = estimators.data() + (segment - range.first) * kSegmentFilters;
      for (unsigned j = 0; j < kSegmentFilters; ++j) {
        of_segment[j].add(i * kSegmentBlock, kSegmentBlock, blocks[j].data());
      }
    });
  }
  CountedVector<Estimate> estimates;
  estimates.reserve(estimators.size());
  for (Estimator& estimator : estimators) {
    estimates.push_back(estimator.finish());
  }
  return estimates;
}

void SegmentStore::check(const SegmentConfig& config) {
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    for_each_chunk_in(config, {0, config.segments}, i, [](auto, auto) {});
  }
  const auto count = [&](const char* sql) {
    const Statement select = tables_.statement(sql);
    Execution run(select);
    run.bind(1, std::int64_t{kFamilyShift}).bind(2, as_integer(first_id_ >> kFamilyShift));
    return as_integer(run.count_rows());
  };
  const std::uint64_t wide_rows = (config.wide_segments + kSegmentsPerRow - 1) / kSegmentsPerRow;
  require_rows(count("SELECT 1 FROM {data} WHERE id >> ?1 = ?2"),
               (config.segments - config.wide_segments) * config.chunks_per_segment(), "chunks");
  require_rows(count("SELECT 1 FROM {wide} WHERE id >> ?1 = ?2"),
               wide_rows * config.header.shape.cells, "rows of words");
}

void WideReader::read(std::uint64_t row, std::uint64_t p, std::uint64_t first,
                      std::span<std::uint8_t> words) {
  const std::size_t size = as_size(segments_in_row(config_.wide_segments, row)) * sizeof(FilterSet);
  if (words_.open(as_integer(store_.wide_id(row, p))) != size) {
    throw_damaged(words_name(row, p) + " must be a blob of " + std::to_string(size) + " bytes");
  }
  words_.read(as_size(first) * sizeof(FilterSet), words);
}

void WideReader::intersect(std::uint64_t row, std::uint64_t p, std::span<FilterSet> found) {
  const std::uint64_t first = row * kSegmentsPerRow;
  for_each_word({first, first + segments_in_row(config_.wide_segments, row)}, p,
                [&](std::size_t i, FilterSet word) { found[i] &= word; });
}

void SegmentWriter::open(RowWriter& row, std::uint64_t id, std::size_t size) {
  ++store_.writes_;
  if (row.open(as_integer(id)) != size) {
    throw_damaged("row " + std::to_string(id) + " of the shadow tables must have " +
                  std::to_string(size) + " bytes");
  }
}

void SegmentWriter::change_chunk(std::uint64_t i, std::uint64_t segment,
                                 const std::function<void(std::uint8_t*)>& change) {
  assert(segment >= config_.wide_segments);
  std::array<std::uint8_t, kChunkBytes> chunk;
  open(chunk_, store_.chunk_id(i, segment), chunk.size());
  chunk_.read(0, chunk);
  change(chunk.data());
  chunk_.write(0, chunk);
}

void SegmentWriter::set_wide_bit(std::uint64_t slot, std::uint64_t p) {
  const std::uint64_t segment = slot / kSegmentFilters;
  assert(segment < config_.wide_segments);
  const std::uint64_t row = segment / kSegmentsPerRow;
  open(words_, store_.wide_id(row, p),
       as_size(segments_in_row(config_.wide_segments, row)) * sizeof(FilterSet));
  const std::uint64_t bit = slot - row * kSegmentsPerRow * kSegmentFilters;
  std::uint8_t byte = 0;
  words_.read(as_size(bit / 8), {&byte, 1});
  byte = static_cast<std::uint8_t>(byte | 1U << bit % 8);
  words_.write(as_size(bit / 8), {&byte, 1});
}

}  // namespace bloom
