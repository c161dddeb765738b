// Collects the distinct hashes of a key stream of unknown length, with the number of occurrences of
// each. The number of distinct hashes is needed to size a filter to its keys.
//
// Uses at most 24 bytes per distinct hash, plus 2 MiB, at any time. The hashes are in a sorted
// array, with an unsorted tail behind it for new hashes. When the tail is full, it is merged into
// the sorted array. The array then grows in place (realloc), so that the new tail has at least 1/8
// of its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/hashing/hash.h"
#include "core/support/interrupt_check.h"
#include "core/support/memory.h"

namespace bloom {

// Frees memory of malloc() that was counted: see core/support/memory.h.
struct FreeCounted {
  std::size_t counted = 0;  // bytes

  void operator()(void* memory) const {
    std::free(memory);
    discount_memory(counted);
  }
};

class DistinctHashes {
 public:
  // Adds hashes. Throws std::bad_alloc and what `check_interrupt` throws. After an exception the
  // object can only be destroyed.
  void add(std::span<const Hash> hashes, const InterruptCheck& check_interrupt = {});

  // Merges all pending hashes and returns the number of distinct hashes. Throws as add() does.
  std::size_t finish(const InterruptCheck& check_interrupt = {}) {
    merge_tail(check_interrupt);
    return sorted_;
  }

  // Valid after finish(): the distinct hashes in ascending order, and the number of occurrences of
  // hashes()[i], at most Counters::kSaturated (15).
  std::span<const Hash> hashes() const { return {hashes_.get(), sorted_}; }
  unsigned times(std::size_t i) const { return times_[i]; }

 private:
  template <typename T>
  using Array = std::unique_ptr<T[], FreeCounted>;

  template <typename T>
  static void grow(Array<T>& array, std::size_t size);
  void merge_tail(const InterruptCheck& check_interrupt);
  void make_room();

  // [0, sorted_) is sorted and distinct, and times_ has its counts. [sorted_, end_) is the tail.
  Array<Hash> hashes_;
  Array<std::uint8_t> times_;
  std::size_t sorted_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace bloom
