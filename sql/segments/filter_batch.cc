#include "sql/segments/filter_batch.h"

#include <algorithm>
#include <cassert>

namespace bloom {

FilterBatch::FilterBatch(SegmentStore& store, const SegmentConfig& config)
    : store_(store),
      config_(config),
      max_filters_(static_cast<std::size_t>(std::clamp<std::uint64_t>(
          kMaxBytes / stored_bytes(config.header.shape), 1, kSegmentFilters))) {
  filters_.reserve(max_filters_);
}

FilterCells& FilterBatch::begin_filter(std::uint64_t slot) {
  assert(filters_.empty() || filters_.back().slot < slot);
  const auto segment_of = [](std::uint64_t s) { return s / kSegmentFilters; };
  if (!filters_.empty() &&
      (filters_.size() == max_filters_ || segment_of(filters_.back().slot) != segment_of(slot))) {
    write();
  }
  filters_.push_back({slot, FilterCells(config_.header.shape)});
  return filters_.back().cells;
}

void FilterBatch::write() {
  if (!filters_.empty()) {
    store_.replace_filters(config_, filters_);
    filters_.clear();
  }
}

}  // namespace bloom
