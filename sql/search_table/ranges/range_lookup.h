// Finds the ranges whose filters may have some keys.
#pragma once

#include <optional>
#include <span>

#include "core/support/memory.h"
#include "sql/search_table/ranges/search_keys.h"
#include "sql/search_table/ranges/search_store.h"

namespace bloom {

class RangeLookup {
 public:
  // At first, all ranges are possible. Requires: the arguments outlive the object.
  RangeLookup(SearchStore& store, const FamilyConfig& config, Family family);

  // Keeps the ranges that may have at least one of these keys.
  void keep_any_of(std::span<const SearchKey> keys);
  // Returns whether keep_any_of() was called.
  bool has_narrowed() const { return has_narrowed_; }
  // Returns the ranges in the order of their rows; nullopt if they are about half of all
  // ranges or more.
  std::optional<RowidRanges> result();

 private:
  using Sets = CountedVector<FilterSet>;
  void intersect(SearchKey key, Sets& sets);
  void intersect_wide(Hash hash, Sets& sets);

  SearchStore& store_;
  const FamilyConfig& config_;
  Family family_;
  Sets sets_;  // of each segment
  bool has_narrowed_ = false;
};

// Returns the rows that are in both. Requires: each has disjoint ranges in ascending order.
RowidRanges intersection(const RowidRanges& a, const RowidRanges& b);
// Sorts ranges that may overlap, and joins those that overlap or are neighbours.
void normalize(RowidRanges& ranges);

}  // namespace bloom
