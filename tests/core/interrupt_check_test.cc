// Work on filters of several slices. The interrupt check is called between slices, and the result
// is the same as without it.

#include "core/support/interrupt_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "core/layout/halving.h"
#include "core/operations/distinct.h"
#include "core/operations/estimate.h"
#include "core/operations/merge.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

struct Stop {};

// Counts interrupt checks, and throws Stop at number `stop_at`.
struct Counter {
  int pauses = 0;
  int stop_at = 0;

  InterruptCheck check() {
    return {[](void* context) {
              auto& self = *static_cast<Counter*>(context);
              if (++self.pauses == self.stop_at) {
                throw Stop();
              }
            },
            this};
  }
};

Filter built(const Shape& shape, std::uint64_t first, std::uint64_t last) {
  Filter filter(Header{.shape = shape});
  for (std::uint64_t i = first; i < last; ++i) {
    filter.add(test::key_hash(i, shape.seed));
  }
  return filter;
}

bool same_bytes(const Filter& a, const Filter& b) { return test::bytes_of(a) == test::bytes_of(b); }

// Shapes that are halved by blocks and by cells. Some have blocks that end at the end of a slice or
// of a byte, and some do not.
std::vector<Shape> large_shapes() {
  using enum Kind;
  constexpr std::uint64_t kCells = 5 * kPieceBits;
  return {{.kind = standard, .hashes = 5, .cells = kCells + 6},
          {.kind = standard, .hashes = 5, .cells = kCells, .block = kPieceBits / 2},
          {.kind = standard, .hashes = 5, .cells = 4 * 10'500'003UL, .block = 10'500'003},
          {.kind = standard, .hashes = 5, .cells = 31744 * 1400UL, .block = 31744, .seed = 3},
          {.kind = counting, .hashes = 3, .cells = kCells},
          {.kind = counting, .hashes = 3, .cells = 7936 * 4200UL, .block = 7936},
          {.kind = partitioned, .hashes = 5, .cells = kCells}};
}

constexpr std::uint64_t kKeys = 3000;

TEST(InterruptCheck, WorkInSlicesGivesTheSameResult) {
  for (const Shape& shape : large_shapes()) {
    const Filter low = built(shape, 0, 2 * kKeys);
    const Filter high = built(shape, kKeys, 3 * kKeys);
    ASSERT_TRUE(same_bytes(Filter(low.view()), low)) << shape;
    ASSERT_TRUE(same_bytes(halve(low.view()), built(halved(shape), 0, 2 * kKeys))) << shape;
    Filter both = built(shape, 0, 2 * kKeys);
    for (std::uint64_t i = kKeys; i < 3 * kKeys; ++i) {
      both.add(test::key_hash(i, shape.seed));
    }
    ASSERT_TRUE(same_bytes(make_union(Filter(low.view()), high.view(), "g"), both)) << shape;
    ASSERT_NEAR(estimate(low.view()).keys, 2 * kKeys, 60) << shape;
    if (shape.kind == Kind::counting) {
      Shape bits = shape;
      bits.kind = Kind::standard;
      ASSERT_TRUE(same_bytes(to_standard(low.view(), "f"), built(bits, 0, 2 * kKeys))) << shape;
    }
  }
}

TEST(InterruptCheck, IsCalledOftenWhileAFilterIsReadOrWritten) {
  const Filter f =
      built({.kind = Kind::counting, .hashes = 3, .cells = 5 * kPieceBits}, 0, kKeys);  // 20 MiB
  const std::function<void(const InterruptCheck&)> all[] = {
      [&](const InterruptCheck& check_interrupt) { Filter(f.view(), check_interrupt); },
      [&](const InterruptCheck& check_interrupt) { halve(f.view(), check_interrupt); },
      [&](const InterruptCheck& check_interrupt) {
        make_union(Filter(f.view()), f.view(), "g", check_interrupt);
      },
      [&](const InterruptCheck& check_interrupt) {
        make_intersection(Filter(f.view()), f.view(), "g", check_interrupt);
      },
      [&](const InterruptCheck& check_interrupt) {
        resized_to_match(f.view(), f.header(), "f", "g", check_interrupt);
      },
      [&](const InterruptCheck& check_interrupt) { to_standard(f.view(), "f", check_interrupt); },
      [&](const InterruptCheck& check_interrupt) { estimate(f.view(), check_interrupt); },
  };
  for (const auto& work : all) {
    Counter counter;
    work(counter.check());
    const int pauses = counter.pauses;
    EXPECT_GE(pauses, 2) << &work - all;
    Counter stopped{.stop_at = pauses};
    EXPECT_THROW(work(stopped.check()), Stop) << &work - all;
  }
}

TEST(InterruptCheck, IsCalledOftenWhileHashesAreSorted) {
  std::vector<Hash> hashes(1 << 20);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = test::key_hash(i);
  }
  Counter counter;
  DistinctHashes distinct;
  distinct.add(hashes, counter.check());
  EXPECT_EQ(distinct.finish(counter.check()), hashes.size());
  EXPECT_GE(counter.pauses, 100);
}

}  // namespace
}  // namespace bloom
