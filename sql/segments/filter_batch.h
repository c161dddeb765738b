// Filters that are filled in memory and then replace filters of a SegmentStore. Each chunk of a
// segment is written once for up to 64 filters. This is faster than SegmentWriter if each filter
// gets many keys, one filter after another: its cells then stay in the L1 or L2 cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/filter/bit_sliced.h"
#include "core/support/memory.h"
#include "sql/segments/segment_store.h"

namespace bloom {

class FilterBatch {
 public:
  // Requires: `store` and `config` outlive the batch.
  FilterBatch(SegmentStore& store, const SegmentConfig& config);
  FilterBatch(const FilterBatch&) = delete;
  FilterBatch& operator=(const FilterBatch&) = delete;

  // Returns the cells of a new, empty filter. The next write() stores the new filter in place of
  // the filter of the slot. The cells are valid until the next call of a function of the batch.
  // Writes the batch first if the slot is in another segment, or if the batch is full: it takes at
  // most kMaxBytes, or one filter if that is larger. Throws as write() does, and std::bad_alloc.
  // Requires: the slots are given in ascending order.
  FilterCells& begin_filter(std::uint64_t slot);
  // Writes the filters. Throws as SegmentStore::replace_filters() does.
  void write();

 private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 24U;  // 16 MiB

  SegmentStore& store_;
  const SegmentConfig& config_;
  std::size_t max_filters_;
  CountedVector<SlotCells> filters_;  // of one segment
};

}  // namespace bloom
