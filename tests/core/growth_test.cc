// Filters that grow: the sizes of their layers, and the layers as one filter.

#include "core/sizing/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/filter/layers.h"
#include "core/layout/chunk_layout.h"
#include "core/sizing/prediction.h"
#include "core/support/error.h"
#include "tests/support/keys.h"

namespace bloom::test {
namespace {

std::uint64_t total_of(const std::vector<Header>& layers) {
  std::uint64_t total = 0;
  for (const Header& layer : layers) {
    total += layer.capacity;
  }
  return total;
}

std::vector<Header> grown_to(const Growth& growth, std::uint64_t first, std::uint64_t keys) {
  std::vector<Header> layers = {first_layer(growth, first)};
  while (total_of(layers) < keys) {
    layers.push_back(*next_layer(growth, layers));
  }
  return layers;
}

TEST(Growth, SharesAddUpToOneAndNeverMore) {
  double sum = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    sum += fpr_share_of_layer(i);
    ASSERT_LT(sum, 1) << i;
  }
  EXPECT_NEAR(sum, 1, 1e-4);
}

TEST(Growth, TheWholeStaysBelowItsRateWhenEveryLayerIsFull) {
  for (const Kind kind : {Kind::standard, Kind::partitioned}) {
    for (const double fpr : {0.3, 0.01, 1e-6}) {
      const auto layers = grown_to({.fpr = fpr, .kind = kind}, kFirstCapacity, 100'000'000);
      double none = 1;
      for (const Header& layer : layers) {
        none *= 1 - predicted_fpr(layer.shape, layer.capacity);
        EXPECT_LE(1 - none, fpr);
      }
    }
  }
}

TEST(Growth, LayersAreAlmostFullAtPowersOfTen) {
  std::set<std::uint64_t> totals;
  std::vector<Header> layers = {first_layer({}, kFirstCapacity)};
  while (layers.size() < 20) {
    totals.insert(total_of(layers));
    layers.push_back(*next_layer({}, layers));
  }
  for (const std::uint64_t power :
       {1'000U, 10'000U, 100'000U, 1'000'000U, 10'000'000U, 100'000'000U}) {
    const auto total = totals.lower_bound(power);
    EXPECT_LT(*total, power + power / 18) << power;
  }
}

TEST(Growth, AFullFilterHasLessThanTwiceTheBytesOfAFilterOfThatCapacity) {
  std::vector<Header> layers = {first_layer({}, kFirstCapacity)};
  double bytes = 0;
  for (; total_of(layers) < 20'000'000; layers.push_back(*next_layer({}, layers))) {
    bytes += static_cast<double>(stored_bytes(layers.back().shape));
    const Header sized = size_filter(total_of(layers), kDefaultFpr, Kind::standard);
    EXPECT_LT(bytes / static_cast<double>(stored_bytes(sized.shape)), 2) << layers.size();
  }
}

TEST(Growth, EndsAtTheMaximumSizeOfAFilter) {
  std::vector<Header> layers = {first_layer({}, 75'000'000'000)};
  EXPECT_FALSE(next_layer({}, layers));
  layers = {first_layer({}, 1'000'000'000)};
  for (std::optional<Header> next; (next = next_layer({}, layers)); layers.push_back(*next)) {
    EXPECT_LE(next->shape.cells, kMaxCells);
  }
  EXPECT_GT(total_of(layers), 10'000'000'000U);
}

TEST(Growth, NeverReachesTheMaximumNumberOfLayers) {
  std::vector<Header> layers = {first_layer({}, 1)};
  while (const auto next = next_layer({}, layers)) {
    layers.push_back(*next);
  }
  EXPECT_LT(layers.size(), kMaxLayers);
  EXPECT_FALSE(next_layer({}, std::vector(kMaxLayers, layers.front())));
}

TEST(Growth, TheFirstLayerIsLargeEnoughToEstimateItsFill) {
  EXPECT_EQ(first_layer({}, 1).capacity, kMinFirstCapacity);
  EXPECT_EQ(first_layer({}, 100).capacity, 100U);
}

// 32 slices do not divide a block of 10,000 cells, but 16 do. 10,001 cells have no even number.
TEST(Growth, PartitionedLayersHaveSlicesThatDivideTheBlock) {
  const Growth growth{.fpr = 0.0001, .kind = Kind::partitioned, .block = 10'000};
  const std::vector<Header> grown = grown_to(growth, 50, 500'000);
  EXPECT_LT(grown.back().shape.hashes, 32U);
  EXPECT_LT(grown.back().fpr, std::exp2(-17));  // the best number is between 16 and 32
  const Growth odd{.fpr = 0.5, .kind = Kind::partitioned, .block = 10'001};
  EXPECT_THROW(first_layer(odd, 50), Error);
  const std::vector<Header> layers = {size_filter(1000, 0.5, Kind::partitioned, 10'001)};
  EXPECT_FALSE(next_layer(odd, layers));
}

TEST(Growth, EndsWhenTheRateOfALayerIsNoNumber) {
  const std::vector<Header> layers = {size_filter(1000, 0.5, Kind::standard)};
  EXPECT_FALSE(next_layer({.fpr = std::numeric_limits<double>::denorm_min()}, layers));
}

TEST(Growth, ANewLayerKeepsKindSeedAndCollationOfEarlierLayers) {
  std::vector<Header> layers = {
      first_layer({.fpr = 0.01, .seed = 7, .collation = Collation::nocase}, 100)};
  const Header next = *next_layer({.fpr = 0.01, .kind = Kind::partitioned}, layers);
  EXPECT_EQ(next.shape.kind, Kind::standard);
  EXPECT_EQ(next.shape.seed, 7U);
  EXPECT_EQ(next.shape.collation, Collation::nocase);
}

TEST(Growth, AllLayersHaveOneKindBlockSeedAndCollation) {
  const Growth growth{.fpr = 0.01,
                      .kind = Kind::partitioned,
                      .block = 512,
                      .seed = 7,
                      .collation = Collation::nocase};
  for (const Header& layer : grown_to(growth, 50, 500'000)) {
    EXPECT_EQ(layer.shape.kind, Kind::partitioned);
    EXPECT_EQ(layer.shape.block, 512U);
    EXPECT_EQ(layer.shape.seed, 7U);
    EXPECT_EQ(layer.shape.collation, Collation::nocase);
  }
}

// Stores all chunks that were requested.
class AllChunks {
 public:
  explicit AllChunks(const Layers& layers) : layers_(layers) {}

  std::uint8_t* at(std::uint64_t i) {
    EXPECT_LT(i, layers_.chunk_count());
    auto& chunk = chunks_[i];
    chunk.resize(layers_.chunk_bytes(i));
    return chunk.data();
  }
  void mark_changed(std::uint64_t i) { EXPECT_TRUE(chunks_.contains(i)); }

 private:
  const Layers& layers_;
  std::map<std::uint64_t, std::vector<std::uint8_t>> chunks_;
};

TEST(Layers, LoseNoKeyWhenLayersAreAdded) {
  Layers layers;
  AllChunks cells(layers);
  std::uint64_t n = 0;
  for (const std::uint64_t keys : {100U, 5'000U, 200U, 20'000U}) {
    layers.append(size_filter(keys, 0.001, Kind::standard));
    const LayeredFilter filter(layers);
    for (const std::uint64_t end = n + keys; n < end; ++n) {
      filter.add(key_hash(n), cells);
    }
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(filter.may_contain(key_hash(i), cells)) << i;
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      wrong += filter.may_contain(key_hash(i + 1'000'000), cells) ? 1 : 0;
    }
    // 50 false positives per layer are expected.
    EXPECT_LT(wrong, 50 * layers.size() + 40);
  }
}

TEST(Layers, GenerationsForgetTheOldestKeys) {
  constexpr std::size_t kGenerations = 3;
  constexpr std::uint64_t kKeys = 500;
  Layers layers = Layers::generations(size_filter(kKeys, 1e-9, Kind::standard), kGenerations, 1);
  EXPECT_TRUE(layers.are_generations());
  AllChunks cells(layers);
  const auto present = [&](std::uint64_t generation) {
    std::uint64_t found = 0;
    for (std::uint64_t i = generation * kKeys; i < (generation + 1) * kKeys; ++i) {
      found += LayeredFilter(layers).may_contain(key_hash(i), cells) ? 1 : 0;
    }
    return found;
  };
  for (std::uint64_t generation = 0; generation < 8; ++generation) {
    EXPECT_EQ(layers.newest_index(), (generation + 1) % kGenerations);
    for (std::uint64_t i = generation * kKeys; i < (generation + 1) * kKeys; ++i) {
      LayeredFilter(layers).add(key_hash(i), cells);
    }
    for (std::uint64_t older = 0; older <= generation; ++older) {
      EXPECT_EQ(present(older), older + kGenerations > generation ? kKeys : 0U) << older;
    }
    layers.rotate();
    const std::uint64_t first = layers.newest().first_chunk;
    for (std::uint64_t c = 0; c < chunk_count(layers.newest().header.shape); ++c) {
      std::fill_n(cells.at(first + c), layers.chunk_bytes(first + c), std::uint8_t{0});
    }
  }
}

TEST(Layers, AreNumberedFromTheOldest) {
  Layers growing;
  for (const std::uint64_t keys : {100U, 5'000U, 200U}) {
    growing.append(size_filter(keys, 0.001, Kind::standard));
  }
  Layers generations = Layers::generations(size_filter(100, 0.001, Kind::standard), 3);
  for (std::size_t newest = 0; newest < 7; ++newest, generations.rotate()) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(growing.index_from_oldest(i), i);
      EXPECT_EQ(generations.index_from_oldest(i), (newest + 1 + i) % 3);
    }
    EXPECT_EQ(&generations.newest(), &generations.all()[newest % 3]);
    EXPECT_EQ(&generations.oldest(), &generations.all()[(newest + 1) % 3]);
  }
  EXPECT_FALSE(growing.are_generations());
  EXPECT_EQ(growing.oldest().header, growing.headers().front());
  EXPECT_EQ(growing.newest().header, growing.headers().back());
}

TEST(Layers, NumberChunksAcrossLayers) {
  std::vector<Header> headers;
  Layers layers;
  for (const std::uint64_t keys : {100U, 5'000U, 200U, 20'000U}) {
    headers.push_back(size_filter(keys, 0.001, Kind::standard));
    layers.append(headers.back());
  }
  std::uint64_t i = 0;
  for (std::size_t l = 0; l < headers.size(); ++l) {
    for (std::uint64_t c = 0; c < chunk_count(headers[l].shape); ++c, ++i) {
      EXPECT_EQ(&layers.layer_of(i), &layers.all()[l]);
      EXPECT_EQ(layers.chunk_bytes(i), chunk_bytes(headers[l].shape, c));
    }
  }
  EXPECT_EQ(layers.chunk_count(), i);
}

}  // namespace
}  // namespace bloom::test
