// The distinct hashes of a stream of keys whose number is not known beforehand, with how often each
// came: what a filter needs that is to be sized to its keys.
//
// At most 24 bytes for each distinct hash at any time: a sorted array that grows in place (realloc)
// by an eighth, and behind it an unsorted tail of about that size that is merged into it when full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/hash.h"

namespace bloom {

class DistinctHashes {
 public:
  // Throws std::bad_alloc; the object can then only be destroyed.
  void add(std::span<const Hash> hashes);

  // Sorts everything in and returns the number of distinct hashes. Throws as add() does.
  std::size_t finish() {
    merge_tail();
    return sorted_;
  }

  // After finish(): the hashes in order, and how often each came, at most as often as a counter
  // can tell.
  const Hash& hash(std::size_t i) const { return hashes_[i]; }
  unsigned times(std::size_t i) const { return times_[i]; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <typename T>
  using Array = std::unique_ptr<T[], Free>;

  template <typename T>
  static void grow(Array<T>& array, std::size_t size);
  void merge_tail();
  void drop_repeats_in_tail();
  void drop_known_from_tail();
  void make_room();

  // [0, sorted_) is in order, distinct and counted in times_; [sorted_, end_) is the tail.
  Array<Hash> hashes_;
  Array<std::uint8_t> times_;
  std::size_t sorted_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace bloom
