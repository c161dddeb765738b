#include "sql/source/bloom_change_log.h"

#include <algorithm>
#include <cmath>

#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "sql/source/source_key.h"

namespace bloom {

using sqlite::Execution;

// The FPR of the next filter. All filters together have at most 1/8 of `fpr`, so they hardly raise
// the FPR of the table. The lowest FPR bounds the memory per key.
double KeySketch::next_fpr(double fpr) const {
  constexpr double kHighest = 1e-4;
  constexpr double kLowest = 1e-15;
  constexpr double kFirstShare = 1.0 / 16;
  const double share = std::ldexp(kFirstShare, -static_cast<int>(filters_.size()));
  return fpr == 0 ? kHighest : std::clamp(fpr * share, kLowest, kHighest);
}

void KeySketch::add(Hash hash, double fpr) {
  constexpr std::uint64_t kFirst = 1000;
  constexpr std::uint64_t kFactor = 4;
  if (free_keys_ == 0) {
    const std::uint64_t keys =
        filters_.empty() ? kFirst : kFactor * filters_.back().header().capacity;
    filters_.emplace_back(size_filter(std::min(keys, kMaxKeys), next_fpr(fpr), Kind::standard));
    free_keys_ = keys;
  }
  filters_.back().add(hash);
  --free_keys_;
}

bool KeySketch::may_contain(Hash hash) const {
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const Filter& filter) { return filter.may_contain(hash); });
}

double KeySketch::fpr() const {
  double none = 1;
  for (const Filter& filter : filters_) {
    const std::uint64_t free = &filter == &filters_.back() ? free_keys_ : 0;
    none *= 1 - predicted_fpr(filter.shape(), filter.header().capacity - free);
  }
  return 1 - none;
}

void KeySketch::clear() {
  filters_.clear();
  free_keys_ = 0;
}

void BloomChangeLog::set_parts(const PartCollations& parts) {
  if (parts != parts_) {
    parts_ = parts;
    forget();
  }
}

void BloomChangeLog::add_key(const Execution& row, int first) {
  const KeyForm form{header_.shape, parts_};
  const SourceKey key = key_of_row(row, first, form);
  KeyHashes(form.shape)
      .for_each_hash(
          key, [&](Hash hash) { added_keys_.add(hash, header_.fpr); },
          [&](Hash marker) { return added_keys_.may_contain(marker); });
  keys_read_ += key.hash ? 1 : 0;
}

bool BloomChangeLog::keep_keys(std::uint64_t n) {
  // Keys of removed rows that may stay in the cache, beside as many as there are others.
  constexpr std::uint64_t kMaxLostKeys = 1000;
  lost_keys_ += keys_read_ - n;
  keys_read_ = n;
  return lost_keys_ <= kMaxLostKeys + keys_read_;
}

void BloomChangeLog::forget_keys() {
  added_keys_.clear();
  keys_read_ = 0;
  lost_keys_ = 0;
}

void BloomChangeLog::for_each_change(const Shape& shape, const EachChange& f) const {
  const KeyForm form{shape, parts_};
  KeyHashes hashes(shape);
  for_each_row([&](Change change, const Execution& row, int first) {
    if (change == kVoid) {
      return;
    }
    const SourceKey key = key_of_row(row, first, form);
    if (change == kAdded || change == kAnnounced) {
      hashes.for_each_hash(key, [&](Hash hash) { f(true, hash); });
    } else if (key.hash || shape.kind != Kind::counting) {
      f(false, key.hash);
    }
  });
}

}  // namespace bloom
