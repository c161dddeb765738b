#include "sql/search_table/ranges/range_lookup.h"

#include <algorithm>
#include <bit>

#include "core/filter/bit_sliced.h"

namespace bloom {

RangeLookup::RangeLookup(SearchStore& store, const FamilyConfig& config, Family family)
    : store_(store),
      config_(config),
      family_(family),
      sets_(as_size(config.segments), ~FilterSet{0}) {}

void RangeLookup::keep_any_of(std::span<const SearchKey> keys) {
  has_narrowed_ = true;
  if (keys.size() == 1) {
    return intersect(keys.front(), sets_);
  }
  Sets found(sets_.size(), 0);
  for (const SearchKey key : keys) {
    Sets of_key = sets_;
    intersect(key, of_key);
    std::transform(found.begin(), found.end(), of_key.begin(), found.begin(), std::bit_or<>());
  }
  sets_ = std::move(found);
}

// Reads only the chunks of segments that still have possible ranges.
void RangeLookup::intersect(SearchKey key, Sets& sets) {
  const Hash hash = hash_of(key);
  intersect_wide(hash, sets);
  const BitSlicedFilters filters(config_.header.shape);
  const std::uint64_t chunk = filters.chunk_of(hash);
  for (std::uint64_t first = config_.wide_segments; first < config_.segments;) {
    if (sets[as_size(first)] == 0) {
      ++first;
      continue;
    }
    std::uint64_t end = first + 1;
    while (end < config_.segments && sets[as_size(end)] != 0) {
      ++end;
    }
    store_.segments(family_).for_each_chunk_in(
        config_, {first, end}, chunk, [&](std::uint64_t segment, const std::uint8_t* cells) {
          sets[as_size(segment)] &= filters.may_contain(hash, cells);
        });
    first = end;
  }
}

void RangeLookup::intersect_wide(Hash hash, Sets& sets) {
  const BitSlicedFilters filters(config_.header.shape);
  const std::uint64_t position = filters.chunk_of(hash) * kSegmentBlock;
  WideReader reader(store_.segments(family_), config_);
  for (std::uint64_t row = 0; row * kSegmentsPerRow < config_.wide_segments; ++row) {
    const std::span<FilterSet> of_row = std::span(sets).subspan(
        as_size(row * kSegmentsPerRow), as_size(segments_in_row(config_.wide_segments, row)));
    filters.for_each_position(hash, [&](std::uint64_t p) {
      if (std::any_of(of_row.begin(), of_row.end(), [](FilterSet set) { return set != 0; })) {
        reader.intersect(row, position + p, of_row);
      }
    });
  }
}

std::optional<RowidRanges> RangeLookup::result() {
  std::uint64_t count = 0;
  for (const FilterSet set : sets_) {
    count += static_cast<unsigned>(std::popcount(set));
  }
  if (count * 2 > config_.ranges + 2) {
    return std::nullopt;
  }
  RowidRanges ranges;
  for (std::size_t segment = 0; segment < sets_.size(); ++segment) {
    if (sets_[segment] != 0) {
      store_.for_each_range(family_, segment, sets_[segment],
                            [&](RowidRange range) { ranges.push_back(range); });
    }
  }
  normalize(ranges);
  return ranges;
}

RowidRanges intersection(const RowidRanges& a, const RowidRanges& b) {
  RowidRanges both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const RowidRange range{std::max(a[i].first, b[j].first), std::min(a[i].last, b[j].last)};
    if (range.first <= range.last) {
      both.push_back(range);
    }
    a[i].last < b[j].last ? ++i : ++j;
  }
  return both;
}

void normalize(RowidRanges& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](RowidRange a, RowidRange b) { return a.first < b.first; });
  std::size_t size = 0;
  for (const RowidRange range : ranges) {
    if (size != 0 &&
        (ranges[size - 1].last == kHighestRowid || range.first <= ranges[size - 1].last + 1)) {
      ranges[size - 1].last = std::max(ranges[size - 1].last, range.last);
    } else {
      ranges[size++] = range;
    }
  }
  ranges.resize(size);
}

}  // namespace bloom
