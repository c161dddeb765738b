#include "core/distinct.h"

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "core/cells.h"

namespace bloom {
namespace {

constexpr std::size_t kSmallestTail = 256;
constexpr std::size_t kTailShare = 8;  // the tail is an eighth of the sorted part

std::uint8_t sum_of_times(unsigned a, unsigned b) {
  return static_cast<std::uint8_t>(std::min(a + b, Counters::kStuck));
}

}  // namespace

template <typename T>
void DistinctHashes::grow(Array<T>& array, std::size_t size) {
  if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
    throw std::bad_alloc();
  }
  void* grown = std::realloc(array.get(), size * sizeof(T));
  if (grown == nullptr) {
    throw std::bad_alloc();
  }
  array.release();  // NOLINT(bugprone-unused-return-value): realloc took it over
  array.reset(static_cast<T*>(grown));
}

void DistinctHashes::add(std::span<const Hash> hashes) {
  while (!hashes.empty()) {
    if (end_ == capacity_) {
      merge_tail();
      make_room();
    }
    const std::size_t fit = std::min(hashes.size(), capacity_ - end_);
    std::copy_n(hashes.begin(), fit, hashes_.get() + end_);
    end_ += fit;
    hashes = hashes.subspan(fit);
  }
}

void DistinctHashes::make_room() {
  const std::size_t tail = std::max(kSmallestTail, sorted_ / kTailShare);
  if (capacity_ - sorted_ < tail) {
    grow(hashes_, sorted_ + tail);
    grow(times_, sorted_ + tail);
    capacity_ = sorted_ + tail;
  }
}

// Sorts the tail and counts each hash in it once.
void DistinctHashes::drop_repeats_in_tail() {
  std::sort(hashes_.get() + sorted_, hashes_.get() + end_);
  std::size_t kept = sorted_;
  for (std::size_t i = sorted_; i < end_; ++i) {
    if (kept > sorted_ && hashes_[kept - 1] == hashes_[i]) {
      times_[kept - 1] = sum_of_times(times_[kept - 1], 1);
    } else {
      hashes_[kept] = hashes_[i];
      times_[kept] = 1;
      ++kept;
    }
  }
  end_ = kept;
}

// Counts the hashes of the sorted tail that the sorted part has already there instead.
void DistinctHashes::drop_known_from_tail() {
  std::size_t known = 0;
  std::size_t kept = sorted_;
  for (std::size_t i = sorted_; i < end_; ++i) {
    while (known < sorted_ && hashes_[known] < hashes_[i]) {
      ++known;
    }
    if (known < sorted_ && hashes_[known] == hashes_[i]) {
      times_[known] = sum_of_times(times_[known], times_[i]);
    } else {
      hashes_[kept] = hashes_[i];
      times_[kept] = times_[i];
      ++kept;
    }
  }
  end_ = kept;
}

void DistinctHashes::merge_tail() {
  drop_repeats_in_tail();
  drop_known_from_tail();
  const std::vector<Hash> hashes(hashes_.get() + sorted_, hashes_.get() + end_);
  const std::vector<std::uint8_t> times(times_.get() + sorted_, times_.get() + end_);
  // From the back, so that the sorted part moves up within its own array.
  std::size_t to = end_;
  std::size_t from = sorted_;
  for (std::size_t tail = hashes.size(); tail > 0;) {
    if (from > 0 && hashes[tail - 1] < hashes_[from - 1]) {
      --to, --from;
      hashes_[to] = hashes_[from];
      times_[to] = times_[from];
    } else {
      --to, --tail;
      hashes_[to] = hashes[tail];
      times_[to] = times[tail];
    }
  }
  sorted_ = end_;
}

}  // namespace bloom
