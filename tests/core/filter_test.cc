// Random operations on filters, compared with a model. The model has the exact multiset of keys and
// stores its cells as plain integers.

#include "core/filter/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "core/layout/halving.h"
#include "core/operations/estimate.h"
#include "core/operations/fold.h"
#include "core/operations/merge.h"
#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "tests/support/keys.h"
#include "tests/support/shapes.h"
#include "tests/support/stored.h"

namespace bloom {
namespace {

using test::key_hash;
using test::small_shapes;

class Model {
 public:
  explicit Model(const Shape& shape)
      : shape_(shape), cells_(static_cast<std::size_t>(shape.cells)) {}

  void add(std::uint64_t key) {
    ++keys_[key];
    visit(key, [&](unsigned& cell) { cell = std::min(cell + 1, highest()); });
  }
  void remove(std::uint64_t key) {
    if (--keys_[key] == 0) {
      keys_.erase(key);
    }
    visit(key, [&](unsigned& cell) { cell -= cell == highest() ? 0 : 1; });
  }
  const std::map<std::uint64_t, int>& keys() const { return keys_; }
  const std::vector<unsigned>& cells() const { return cells_; }

 private:
  unsigned highest() const { return shape_.kind == Kind::counting ? 15 : 1; }
  template <typename F>
  void visit(std::uint64_t key, F f) {
    Geometry(shape_).for_each_cell(key_hash(key, shape_.seed), [&](std::uint64_t i) {
      f(cells_[static_cast<std::size_t>(i)]);
    });
  }

  Shape shape_;
  std::map<std::uint64_t, int> keys_;
  std::vector<unsigned> cells_;
};

std::vector<unsigned> cells_of(const FilterView& filter) {
  std::vector<unsigned> cells(static_cast<std::size_t>(filter.shape().cells));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = filter.cell(i);
  }
  return cells;
}

void expect_no_false_negative(const FilterView& filter, const Model& model) {
  for (const auto& [key, times] : model.keys()) {
    ASSERT_TRUE(filter.may_contain(key_hash(key, filter.shape().seed))) << filter.shape();
  }
}

Filter empty(const Shape& shape) { return Filter(Header{.shape = shape, .capacity = 0, .fpr = 0}); }

Filter built(const Shape& shape, std::uint64_t first, std::uint64_t last) {
  Filter filter = empty(shape);
  for (std::uint64_t key = first; key < last; ++key) {
    filter.add(key_hash(key, shape.seed));
  }
  return filter;
}

bool same_bytes(const Filter& a, const Filter& b) { return test::bytes_of(a) == test::bytes_of(b); }

TEST(Filter, RandomAddsAndRemovesFollowTheExactModel) {
  std::mt19937_64 random(1);
  for (const Shape& shape : small_shapes()) {
    for (const std::uint64_t universe : {5U, 60U, 2000U}) {
      Filter filter = empty(shape);
      Model model(shape);
      for (int step = 0; step < 600; ++step) {
        const std::uint64_t key = random() % universe;
        const bool present = model.keys().contains(key);
        if (shape.kind == Kind::counting && present && random() % 3 == 0) {
          ASSERT_TRUE(filter.remove(key_hash(key, shape.seed)));
          model.remove(key);
        } else {
          filter.add(key_hash(key, shape.seed));
          model.add(key);
        }
        if (step % 20 == 0) {
          expect_no_false_negative(filter.view(), model);
        }
      }
      expect_no_false_negative(filter.view(), model);
      ASSERT_EQ(cells_of(filter.view()), model.cells()) << shape;
    }
  }
}

TEST(Filter, AddReturnsWhetherACellChanged) {
  for (const Shape& shape : small_shapes()) {
    Filter filter = empty(shape);
    for (std::uint64_t key = 0; key < 50; ++key) {
      const auto before = cells_of(filter.view());
      const bool changed = filter.add(key_hash(key, shape.seed));
      ASSERT_EQ(changed, before != cells_of(filter.view())) << shape;
    }
  }
}

TEST(Filter, RemovingAnAbsentKeyIsRefusedAndChangesNothing) {
  for (const Shape& shape : small_shapes()) {
    if (shape.kind != Kind::counting) {
      continue;
    }
    const Filter before = built(shape, 0, shape.cells / 8 + 1);
    int refused = 0;
    for (std::uint64_t key = 1000; key < 3000; ++key) {
      Filter filter(before.view());
      // A key that is a false positive is removed: the documented misuse.
      if (!filter.remove(key_hash(key, shape.seed))) {
        ++refused;
        ASSERT_TRUE(same_bytes(filter, before)) << shape;
      }
    }
    EXPECT_TRUE(refused > 0 || shape.cells == 1) << shape;
  }
}

// A key can use the same cell twice. A count of one then proves that the key is absent.
TEST(Filter, RemovingNeverTakesACounterBelowZero) {
  const Shape shape{.kind = Kind::counting, .hashes = 3, .cells = 9};
  for (std::uint64_t key = 0; key < 500; ++key) {
    for (std::uint64_t other = 0; other < 20; ++other) {
      Filter filter = built(shape, 1000 + other, 1001 + other);
      const auto before = cells_of(filter.view());
      filter.remove(key_hash(key));
      const auto after = cells_of(filter.view());
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_LE(after[i], before[i]);
      }
    }
  }
}

TEST(Filter, RemoveUndoesAddUnlessACounterSaturated) {
  const Shape shape{.kind = Kind::counting, .hashes = 5, .cells = 800, .block = 100};
  Filter filter = built(shape, 0, 100);
  ASSERT_EQ(estimate(filter.view()).saturated, 0U);
  const Filter before(filter.view());
  for (std::uint64_t key = 0; key < 60; ++key) {
    filter.add(key_hash(key));
  }
  ASSERT_EQ(estimate(filter.view()).saturated, 0U) << "choose fewer keys";
  for (std::uint64_t key = 0; key < 60; ++key) {
    ASSERT_TRUE(filter.remove(key_hash(key)));
  }
  EXPECT_TRUE(same_bytes(filter, before));
}

TEST(Filter, ASaturatedCounterIsNeverDecremented) {
  const Shape shape{.kind = Kind::counting, .hashes = 4, .cells = 1000};
  Filter filter = empty(shape);
  for (int i = 0; i < 20; ++i) {
    filter.add(key_hash(7));
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(filter.remove(key_hash(7)));
  }
  EXPECT_TRUE(filter.may_contain(key_hash(7)));
}

TEST(Merge, HalvingEqualsBuildingAtHalfTheSize) {
  for (const Shape& start : small_shapes()) {
    for (const std::uint64_t keys : {0U, 3U, 40U, 400U}) {
      Shape shape = start;
      Filter filter = built(shape, 0, keys);
      for (unsigned times = times_halvable(start); times > 0; --times) {
        filter = halve(filter.view());
        shape = halved(shape);
        ASSERT_EQ(filter.shape(), shape);
        ASSERT_TRUE(same_bytes(filter, built(shape, 0, keys))) << shape << " of " << start;
      }
      EXPECT_FALSE(is_halvable(shape));
    }
  }
}

TEST(Fold, HalvesAsOftenAsTheRateAllows) {
  for (const Shape& start : small_shapes()) {
    for (const std::uint64_t keys : {0U, 3U, 40U, 400U}) {
      for (const double fpr : {1e-6, 0.01, 0.3, 0.999}) {
        const Filter filter = built(start, 0, keys);
        const auto about = static_cast<std::uint64_t>(std::ceil(estimate(filter.view()).keys));
        const Filter folded = fold(filter.view(), fpr);
        const Shape& shape = folded.shape();
        ASSERT_TRUE(same_bytes(folded, built(shape, 0, keys))) << shape << " of " << start;
        ASSERT_TRUE(shape == start || predicted_fpr(shape, about) <= fpr) << shape << " " << fpr;
        ASSERT_TRUE(!is_halvable(shape) || !estimate(filter.view()).keys_known ||
                    predicted_fpr(halved(shape), about) > fpr)
            << shape;
      }
    }
  }
}

TEST(Fold, MeasuredRateStaysBelowTheLimit) {
  constexpr std::uint64_t kKeys = 5000;
  constexpr std::uint64_t kAbsent = 100'000;
  for (const Kind kind : kKinds) {
    for (const double fpr : {0.001, 0.02, 0.2}) {
      Filter large(size_filter(400'000, 0.001, kind));
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        large.add(key_hash(key));
      }
      const Filter small = fold(large.view(), fpr);
      std::uint64_t found = 0;
      for (std::uint64_t key = 0; key < kKeys + kAbsent; ++key) {
        found += small.may_contain(key_hash(key)) ? 1 : 0;
        ASSERT_TRUE(key >= kKeys || found == key + 1) << "lost " << key;
      }
      EXPECT_LE(static_cast<double>(found - kKeys), fpr * kAbsent * 1.3 + 10) << fpr;
      EXPECT_GT(times_halvable(large.shape()), times_halvable(small.shape()));
      const Estimate now = estimate(small.view());
      EXPECT_FALSE(exceeds_capacity(small.header(), now.keys)) << name_of(kind) << " " << fpr;
    }
  }
}

// The filter of 2,000 keys has more cells than 2,000 / 1,000,000 of the large one: a capacity that
// was halved 9 times, 1,953, would be too low.
TEST(Fold, AFilterFoldedToItsTargetIsNotOverfull) {
  Filter large(size_filter(1'000'000, 0.01, Kind::standard));
  for (std::uint64_t key = 0; key < 2'050; ++key) {
    large.add(key_hash(key));
  }
  const Filter small = fold(large.view(), 0.01);
  const double keys = estimate(small.view()).keys;
  EXPECT_GT(keys, 1'953);
  EXPECT_FALSE(exceeds_capacity(small.header(), keys)) << small.header().capacity;
}

TEST(Fold, KeepsTheTargetUnlessTheRateIsLower) {
  Header header = size_filter(100'000, 0.01, Kind::standard);
  EXPECT_EQ(folded(header, 0, 0.5), header);
  EXPECT_EQ(folded(header, 2, 0.001), halved(halved(header)));
  for (const double fpr : {0.01, 0.05}) {
    const Header high = folded(header, 2, fpr);
    EXPECT_EQ(high.fpr, fpr);
    EXPECT_LE(predicted_fpr(high.shape, high.capacity), fpr);
    EXPECT_GT(predicted_fpr(high.shape, high.capacity + 1), fpr);
  }
  header.capacity = 0;
  header.fpr = 0;
  EXPECT_EQ(folded(header, 2, 0.05), halved(halved(header)));
}

TEST(Merge, UnionEqualsTheFilterOfBothSets) {
  for (const Shape& shape : small_shapes()) {
    for (const std::uint64_t split : {0U, 1U, 20U, 100U}) {
      const Filter a = built(shape, 0, split);
      const Filter b = built(shape, split, 100);
      const Filter both = built(shape, 0, 100);
      ASSERT_TRUE(same_bytes(make_union(Filter(a.view()), b.view(), "g"), both)) << shape;
      ASSERT_TRUE(same_bytes(make_union(Filter(b.view()), a.view(), "g"), both)) << shape;
    }
  }
}

TEST(Merge, AFilterOfNoRowsIsNeutral) {
  const Filter none(size_filter(1, 0.01, Kind::standard));
  EXPECT_TRUE(is_neutral(none.view()));
  EXPECT_FALSE(is_neutral(Filter(size_filter(2, 0.01, Kind::standard)).view()));
  for (const Shape& shape : small_shapes()) {
    Filter some = built(shape, 0, 30);
    EXPECT_FALSE(is_neutral(some.view())) << shape;
    some.set_target(1, 0.5);
    EXPECT_FALSE(is_neutral(some.view())) << shape;
    EXPECT_TRUE(same_bytes(make_union(Filter(some.view()), none.view(), "g"), some)) << shape;
    EXPECT_TRUE(same_bytes(make_union(Filter(none.view()), some.view(), "g"), some)) << shape;
    const Filter empty(some.header());
    EXPECT_TRUE(same_bytes(make_intersection(Filter(some.view()), none.view(), "g"), empty));
    EXPECT_TRUE(same_bytes(make_intersection(Filter(none.view()), some.view(), "g"), empty));
  }
}

// Returns `filter`, halved until it has the shape `goal`.
Filter halved_to(const Filter& filter, const Shape& goal) {
  Filter result(filter.view());
  while (result.shape() != goal) {
    result = halve(result.view());
  }
  return result;
}

std::size_t nonzero_cells(const Filter& filter) {
  const std::vector<unsigned> cells = cells_of(filter.view());
  return cells.size() - static_cast<std::size_t>(std::count(cells.begin(), cells.end(), 0U));
}

// The smaller filter is doubled. Halving that again must give its cells, and each of them must have
// been copied to the same number of cells.
TEST(Merge, UnionOfUnequalSizesLosesNothingOfTheLarger) {
  for (const Shape& large : small_shapes()) {
    Shape small = large;
    while (is_halvable(small)) {
      small = halved(small);
      const Filter a = built(large, 0, 30);
      const Filter b = built(small, 20, 60);
      const Filter none = empty(large);
      const Filter doubled = make_union(Filter(none.view()), b.view(), "g");
      ASSERT_EQ(nonzero_cells(doubled), nonzero_cells(b) * (large.cells / small.cells)) << large;
      const std::vector<unsigned> back = cells_of(halved_to(doubled, small).view());
      const std::vector<unsigned> cells = cells_of(b.view());
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto copies = static_cast<unsigned>(large.cells / small.cells);
        const unsigned expected =
            large.kind == Kind::counting ? std::min(15U, cells[i] * copies) : cells[i];
        ASSERT_EQ(back[i], expected) << large << small;
      }
      const Filter both = make_union(Filter(a.view()), doubled.view(), "g");
      ASSERT_TRUE(same_bytes(make_union(Filter(a.view()), b.view(), "g"), both)) << large << small;
      ASSERT_TRUE(same_bytes(make_union(Filter(b.view()), a.view(), "g"), both)) << large << small;
      if (large.kind != Kind::counting) {
        const Filter first_halved = make_union(halved_to(a, small), b.view(), "g");
        ASSERT_TRUE(same_bytes(halved_to(both, small), first_halved)) << large << small;
      }
    }
  }
}

TEST(Merge, UnionOfUnequalSizesDoesNotDependOnTheOrder) {
  const Shape large{.kind = Kind::standard, .hashes = 5, .cells = 5120, .block = 512};
  const Filter a = built(large, 0, 30);
  const Filter b = built(halved(large), 20, 60);
  const Filter c = built(halved(halved(large)), 50, 90);
  const Filter expected = make_union(make_union(Filter(a.view()), b.view(), "g"), c.view(), "g");
  const std::array<const Filter*, 3> filters = {&a, &b, &c};
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    const Filter pair =
        make_union(Filter(filters[order[0]]->view()), filters[order[1]]->view(), "g");
    const Filter all = make_union(Filter(pair.view()), filters[order[2]]->view(), "g");
    EXPECT_TRUE(same_bytes(all, expected));
  } while (std::next_permutation(order.begin(), order.end()));
}

// 200,000 keys, merged with a filter that was halved twice. Halving the larger filter would raise
// the FPR to 0.7.
TEST(Merge, UnionOfUnequalSizesKeepsAUsefulRate) {
  const Header header = size_filter(200'000, 0.01, Kind::standard);
  Filter a(header);
  Filter b(header);
  for (std::uint64_t key = 0; key < 200'000; ++key) {
    a.add(key_hash(key));
  }
  for (std::uint64_t key = 200'000; key < 210'000; ++key) {
    b.add(key_hash(key));
  }
  const Filter small = halve(halve(b.view()).view());
  const Filter both = make_union(Filter(a.view()), small.view(), "g");
  EXPECT_LT(estimate(both.view()).fpr, 0.03);
  EXPECT_GT(estimate(make_union(halved_to(a, small.shape()), small.view(), "g").view()).fpr, 0.6);
}

TEST(Merge, IntersectionKeepsEveryCommonKeyAndTheSmallerOfTwoCells) {
  for (const Shape& shape : small_shapes()) {
    const Filter a = built(shape, 0, 60);
    const Filter b = built(shape, 40, 100);
    const Filter common = make_intersection(Filter(a.view()), b.view(), "g");
    for (std::uint64_t key = 40; key < 60; ++key) {
      ASSERT_TRUE(common.may_contain(key_hash(key, shape.seed))) << shape;
    }
    for (std::uint64_t i = 0; i < shape.cells; ++i) {
      ASSERT_EQ(common.view().cell(i), std::min(a.view().cell(i), b.view().cell(i))) << shape;
    }
  }
}

TEST(Merge, CountersAddUpAndSaturate) {
  const Shape shape{.kind = Kind::counting, .hashes = 3, .cells = 100};
  Filter sum = empty(shape);
  Filter one = empty(shape);
  one.add(key_hash(1));
  for (unsigned times = 1; times <= 40; ++times) {
    sum = make_union(std::move(sum), one.view(), "g");
    Geometry(shape).for_each_cell(key_hash(1), [&](auto i) {
      EXPECT_EQ(sum.view().cell(i), std::min(15U, times * one.view().cell(i)));
    });
  }
}

TEST(Merge, StandardOfCountingEqualsTheStandardFilterOfItsKeys) {
  for (Shape shape : small_shapes()) {
    if (shape.kind != Kind::counting) {
      continue;
    }
    const Filter counting = built(shape, 0, 70);
    shape.kind = Kind::standard;
    ASSERT_TRUE(same_bytes(to_standard(counting.view(), "f"), built(shape, 0, 70))) << shape;
  }
}

TEST(Merge, FiltersOfOtherShapesAreRefusedAndNothingChanges) {
  const Shape shape{.kind = Kind::standard, .hashes = 7, .cells = 1024};
  const Filter f = built(shape, 0, 20);
  using enum Kind;
  const Shape others[] = {{.kind = counting, .hashes = 7, .cells = 1024},
                          {.kind = partitioned, .hashes = 8, .cells = 1024},
                          {.kind = standard, .hashes = 6, .cells = 1024},
                          {.kind = standard, .hashes = 7, .cells = 1024, .block = 1024},
                          {.kind = standard, .hashes = 7, .cells = 1024, .seed = 1},
                          {.kind = standard, .hashes = 7, .cells = 1000},
                          {.kind = standard, .hashes = 7, .cells = 3072}};
  for (const Shape& other : others) {
    const Filter g = built(other, 0, 20);
    for (const auto merge : {make_union, make_intersection}) {
      EXPECT_THROW(merge(Filter(f.view()), g.view(), "g", {}), Error) << other;
      EXPECT_THROW(merge(Filter(g.view()), f.view(), "g", {}), Error) << other;
    }
    EXPECT_TRUE(same_bytes(f, built(shape, 0, 20)));
  }
}

TEST(Merge, AUnionHasTheSmallerCapacityAndTheHigherFpr) {
  const Shape shape{.kind = Kind::standard, .hashes = 7, .cells = 1024};
  Filter a = empty(shape);
  Filter b = empty(shape);
  a.set_target(100, 0.01);
  b.set_target(90, 0.02);
  const Header both = make_union(Filter(a.view()), b.view(), "g").header();
  EXPECT_EQ(both.capacity, 90U);
  EXPECT_EQ(both.fpr, 0.02);
  const Filter unknown = empty(shape);
  for (const auto& [f, g] : {std::pair(a.view(), unknown.view()), {unknown.view(), a.view()}}) {
    const Header neither = make_union(Filter(f), g, "g").header();
    EXPECT_EQ(neither.capacity, 0U);
    EXPECT_EQ(neither.fpr, 0);
  }
  EXPECT_EQ(halve(a.view()).header().capacity, 50U);
}

}  // namespace
}  // namespace bloom
