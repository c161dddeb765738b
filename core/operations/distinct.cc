#include "core/operations/distinct.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <numeric>

#include "core/layout/cells.h"

namespace bloom {
namespace {

constexpr std::size_t kSmallestTail = 256;
constexpr std::size_t kCheapTail = 1 << 16;  // up to here, as long as the sorted part
constexpr std::size_t kTailShare = 8;        // above, 1/8 of the sorted part

std::uint8_t sum_of_times(unsigned a, unsigned b) {
  return static_cast<std::uint8_t>(std::min(a + b, Counters::kSaturated));
}

// Returns the hashes in sorted order. Hashes are uniformly distributed, so a bucket sort takes
// linear time. If an attacker chose the keys to share a bucket, it takes O(n log n).
CountedVector<Hash> sorted(std::span<const Hash> hashes, const InterruptCheck& check_interrupt) {
  constexpr std::size_t kInBucket = 4;
  const auto width = static_cast<unsigned>(std::bit_width(hashes.size() / kInBucket));
  const unsigned bits = std::max(1U, width);
  const auto bucket_of = [bits](Hash hash) {
    return static_cast<std::size_t>(hash.h1 >> (64 - bits));
  };
  // First next[b] is the size of bucket b, then the position of its next hash. When all hashes are
  // placed, it is the end of the bucket.
  CountedVector<std::uint32_t> next(std::size_t{1} << bits);
  for (Hash hash : hashes) {
    ++next[bucket_of(hash)];
  }
  check_interrupt();
  std::exclusive_scan(next.begin(), next.end(), next.begin(), 0U);
  CountedVector<Hash> in_order(hashes.size());
  PeriodicCheck periodic_check(check_interrupt);
  for (Hash hash : hashes) {
    in_order[next[bucket_of(hash)]++] = hash;
    periodic_check.step();
  }
  std::uint32_t begin = 0;
  for (const std::uint32_t end : next) {
    std::sort(in_order.data() + begin, in_order.data() + end);
    begin = end;
    periodic_check.step();
  }
  return in_order;
}

}  // namespace

template <typename T>
void DistinctHashes::grow(Array<T>& array, std::size_t size) {
  if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
    throw std::bad_alloc();
  }
  const std::size_t more = size * sizeof(T) - array.get_deleter().counted;
  count_memory(more);
  void* grown = std::realloc(array.get(), size * sizeof(T));
  if (grown == nullptr) {
    discount_memory(more);
    throw std::bad_alloc();
  }
  array.release();  // NOLINT(bugprone-unused-return-value): realloc took over the memory
  array.reset(static_cast<T*>(grown));
  array.get_deleter().counted += more;
}

void DistinctHashes::add(std::span<const Hash> hashes, const InterruptCheck& check_interrupt) {
  while (!hashes.empty()) {
    if (end_ == capacity_) {
      merge_tail(check_interrupt);
      make_room();
    }
    const std::size_t fit = std::min(hashes.size(), capacity_ - end_);
    std::copy_n(hashes.begin(), fit, hashes_.get() + end_);
    end_ += fit;
    hashes = hashes.subspan(fit);
  }
}

void DistinctHashes::make_room() {
  const std::size_t tail =
      std::max({kSmallestTail, std::min(sorted_, kCheapTail), sorted_ / kTailShare});
  if (capacity_ - sorted_ < tail) {
    grow(hashes_, sorted_ + tail);
    grow(times_, sorted_ + tail);
    capacity_ = sorted_ + tail;
  }
}

void DistinctHashes::merge_tail(const InterruptCheck& check_interrupt) {
  const std::span<const Hash> unsorted(hashes_.get() + sorted_, end_ - sorted_);
  CountedVector<Hash> tail = sorted(unsorted, check_interrupt);
  CountedVector<std::uint8_t> times(tail.size());
  PeriodicCheck periodic_check(check_interrupt);
  // Move hashes that are new to the front of the tail, each once with its count. Hashes that are
  // already in the sorted part only increase their count there.
  std::size_t fresh = 0;
  std::size_t known = 0;
  for (Hash hash : tail) {
    while (known < sorted_ && hashes_[known] < hash) {
      ++known;
      periodic_check.step();
    }
    if (known < sorted_ && hashes_[known] == hash) {
      times_[known] = sum_of_times(times_[known], 1);
    } else if (fresh > 0 && tail[fresh - 1] == hash) {
      times[fresh - 1] = sum_of_times(times[fresh - 1], 1);
    } else {
      tail[fresh] = hash;
      times[fresh++] = 1;
    }
  }
  // Merge from the back, so that the sorted part can be moved up within its own array.
  std::size_t from = sorted_;
  sorted_ += fresh;
  for (std::size_t to = sorted_; fresh > 0;) {
    --to;
    periodic_check.step();
    if (from > 0 && tail[fresh - 1] < hashes_[from - 1]) {
      --from;
      hashes_[to] = hashes_[from];
      times_[to] = times_[from];
    } else {
      --fresh;
      hashes_[to] = tail[fresh];
      times_[to] = times[fresh];
    }
  }
  end_ = sorted_;
}

}  // namespace bloom
