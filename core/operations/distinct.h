// The distinct hashes of a stream of keys whose number is not known beforehand, with how often each
// came: what a filter needs that is to be sized to its keys.
//
// At most 24 bytes for each distinct hash at any time, and 2 MiB: a sorted array that grows in
// place (realloc), and behind it an unsorted tail of at least an eighth of it that is merged into
// it when full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/hashing/hash.h"
#include "core/support/interrupt_check.h"

namespace bloom {

class DistinctHashes {
 public:
  // Throws std::bad_alloc, and what the pause throws; the object can then only be destroyed.
  void add(std::span<const Hash> hashes, const InterruptCheck& check_interrupt = {});

  // Sorts everything in and returns the number of distinct hashes. Throws as add() does.
  std::size_t finish(const InterruptCheck& check_interrupt = {}) {
    merge_tail(check_interrupt);
    return sorted_;
  }

  // After finish(): the hashes in order, and how often each came, at most as often as a counter
  // can tell.
  std::span<const Hash> hashes() const { return {hashes_.get(), sorted_}; }
  unsigned times(std::size_t i) const { return times_[i]; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  template <typename T>
  using Array = std::unique_ptr<T[], Free>;

  template <typename T>
  static void grow(Array<T>& array, std::size_t size);
  void merge_tail(const InterruptCheck& check_interrupt);
  void make_room();

  // [0, sorted_) is in order, distinct and counted in times_; [sorted_, end_) is the tail.
  Array<Hash> hashes_;
  Array<std::uint8_t> times_;
  std::size_t sorted_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace bloom
