#include "core/sizing/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/sizing/formulas.h"
#include "core/sizing/prediction.h"
#include "core/support/error.h"
#include "tests/support/shapes.h"

namespace bloom {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

TEST(Sizing, SlideValuesOfBitsPerKeyAndHashes) {
  EXPECT_NEAR(fpr_for(6 * kMillion, kMillion, 4), 0.0561, 0.00005);
  EXPECT_NEAR(fpr_for(8 * kMillion, kMillion, 6), 0.0215, 0.0001);
  EXPECT_NEAR(fpr_for(12 * kMillion, kMillion, 8), 0.00314, 0.000005);
  EXPECT_NEAR(fpr_for(16 * kMillion, kMillion, 11), 0.000458, 0.000001);
}

TEST(Sizing, ExactAndExponentialFormsAgreeForLargeFilters) {
  for (std::uint32_t k = 1; k < 30; ++k) {
    const double exponential = std::pow(1 - std::exp(-0.1 * k), k);
    EXPECT_NEAR(fpr_for(10 * kMillion, kMillion, k) / exponential, 1, 1e-5);
  }
}

TEST(Sizing, ExactFormEqualsThatOfTheSlidesForSmallFilters) {
  for (std::uint64_t m = 2; m < 50; ++m) {
    for (std::uint64_t n = 0; n < 50; ++n) {
      const double empty = std::pow(1 - 1 / static_cast<double>(m), 3 * static_cast<double>(n));
      EXPECT_NEAR(fpr_for(m, n, 3), std::pow(1 - empty, 3), 1e-12);
    }
  }
}

TEST(Sizing, PartitionedFormSetsOneBitPerSlice) {
  EXPECT_NEAR(fpr_for(15, 2, 3, Kind::partitioned), std::pow(1 - std::pow(0.8, 2), 3), 1e-12);
}

TEST(Sizing, TheNotesExampleOfOneInAMillion) {
  EXPECT_EQ(bits_for(100'000, 1e-6), 2'875'518U);
  EXPECT_EQ(hashes_for(2'875'518, 100'000), 20U);
}

TEST(Sizing, TheBestNumberOfHashesHasTheLowestRate) {
  for (std::uint64_t ratio = 2; ratio <= 32; ++ratio) {
    const std::uint64_t m = ratio * kMillion;
    const std::uint32_t best = hashes_for(m, kMillion);
    for (std::uint32_t k = 1; k < 40; ++k) {
      // Rounding the real optimum can give the neighbour of the best integer, which is at most 2 %
      // worse.
      EXPECT_LE(fpr_for(m, kMillion, best), fpr_for(m, kMillion, k) * 1.02) << ratio << " " << k;
    }
  }
}

// Returns the value of one unit in the last printed digit: 0.001 for "0.092", 1e-09 for "7.26e-07".
double last_place(const std::string& printed) {
  const std::size_t mantissa_end = std::min(printed.find('e'), printed.size());
  const std::size_t point = printed.find('.');
  const int decimals = point < mantissa_end ? static_cast<int>(mantissa_end - point - 1) : 0;
  const int exponent =
      mantissa_end < printed.size() ? std::stoi(printed.substr(mantissa_end + 1)) : 0;
  return std::pow(10, exponent - decimals);
}

TEST(Sizing, SummaryCacheTableWithinItsRounding) {
  std::ifstream file(BLOOM_TEST_DATA "/summary-cache-table.tsv");
  std::string line;
  int lines = 0;
  int to_three_digits = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::uint64_t ratio = 0;
    std::uint32_t k = 0;
    std::string printed;
    ASSERT_TRUE(fields >> ratio >> k >> printed) << line;
    ++lines;
    const bool misprint = ratio == 30 && (k == 15 || k == 16);  // printed e-06, correct e-07
    const double value = std::stod(printed) / (misprint ? 10 : 1);
    const double fpr = fpr_for(ratio * 1000 * kMillion, 1000 * kMillion, k);
    EXPECT_NEAR(fpr, value, 0.501 * last_place(printed) / (misprint ? 10 : 1)) << line;
    const double third_digit = std::pow(10, std::floor(std::log10(value)) - 2);
    to_three_digits += std::abs(fpr - value) <= 0.501 * third_digit ? 1 : 0;
  }
  EXPECT_EQ(lines, 411);
  EXPECT_EQ(to_three_digits, 410);  // all but 0.092 (m/n = 5, k = 3), printed with two digits
}

TEST(Sizing, TenBitsPerEntryOnTheChart) {
  EXPECT_EQ(std::round(fpr_for(10 * kMillion, kMillion, 4) * 1000), 12);
  EXPECT_EQ(std::round(fpr_for(10 * kMillion, kMillion, 5) * 1000), 9);  // the text's "optimum"
  EXPECT_EQ(hashes_for(10 * kMillion, kMillion), 7U);                    // the real one, 0.8 %
}

TEST(Sizing, CapacityIsTheInverseOfTheRate) {
  for (const std::uint64_t m : {1ULL, 2ULL, 64ULL, 1000ULL, 9'585'059ULL, 1ULL << 36, 1ULL << 40}) {
    for (const std::uint32_t k : {1U, 2U, 7U, 20U, 255U}) {
      for (const double p : {0.9, 0.1, 0.01, 1e-6, 1e-12}) {
        const std::uint64_t n = capacity_for(m, k, p);
        EXPECT_LE(n, kMaxKeys) << m << " " << k << " " << p;
        EXPECT_TRUE(n == 0 || fpr_for(m, n, k) <= p) << m << " " << k << " " << p;
        EXPECT_TRUE(n == kMaxKeys || fpr_for(m, n + 1, k) > p) << m << " " << k << " " << p;
      }
    }
  }
}

TEST(Sizing, BitsAndCapacityAreInverseAtTheBestNumberOfHashes) {
  for (const double p : {0.1, 0.01, 0.001, 1e-6}) {
    for (const std::uint64_t n : {1000ULL, 100'000ULL, 10'000'000ULL}) {
      const std::uint64_t m = bits_for(n, p);
      const auto back = static_cast<double>(capacity_for(m, hashes_for(m, n), p));
      // k must be an integer, which costs up to 2.5 % (for p = 0.1 the optimum is 3.3 hashes).
      EXPECT_NEAR(back / static_cast<double>(n), 1, 0.025) << n << " " << p;
    }
  }
}

TEST(Sizing, FiltersForACapacityMeetTheRateAndHalveFourTimes) {
  for (const Kind kind : kKinds) {
    for (const std::uint64_t n :
         {1ULL, 2ULL, 10ULL, 300ULL, 3311ULL, 3312ULL, 20'000ULL, 1'000'000ULL, 1'000'000'000ULL}) {
      for (const double p : {0.9999999, 0.9, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-30}) {
        const Header header = size_filter(n, p, kind);
        const Shape& shape = header.shape;
        ASSERT_FALSE(broken_rule(shape)) << shape;
        EXPECT_EQ(header.capacity, n);
        EXPECT_EQ(header.fpr, p);
        EXPECT_LE(predicted_fpr(shape, n), p) << shape << " " << n;
        const std::uint64_t chunk = kChunkBytes * 8 / bits_per_cell(kind);
        EXPECT_TRUE(shape.blocks() == 1 ? shape.block <= chunk : shape.block == chunk) << shape;
        Shape half = shape;
        for (int times = 0; times < 4 && shape.cells >= 1024; ++times) {
          ASSERT_TRUE(is_halvable(half)) << shape << " after " << times;
          half = halved(half);
        }
      }
    }
  }
}

TEST(Sizing, FiltersWithAGivenBlockSizeMeetTheRateWithFewBlocks) {
  for (const Kind kind : kKinds) {
    for (const std::uint64_t n : {1ULL, 300ULL, 20'000ULL, 1'000'000ULL}) {
      for (const double p : {0.5, 0.01, 1e-4}) {
        for (const std::uint64_t block :
             {0ULL, 64ULL, 512ULL, 31'744ULL, 16'000'000ULL, 1ULL << 40}) {
          const Header header = size_filter(n, p, kind, block);
          Shape shape = header.shape;
          ASSERT_FALSE(broken_rule(shape)) << shape;
          EXPECT_EQ(shape.block, block);
          EXPECT_LE(predicted_fpr(shape, n), p) << shape << " " << n;
          // The cells of an unblocked filter are a multiple of a unit that allows halving it four
          // times.
          const std::uint64_t unit =
              block != 0 ? block
                         : 16 * (kind == Kind::partitioned ? std::uint64_t{shape.hashes} : 1);
          ASSERT_EQ(shape.cells % unit, 0U);
          // No filter that is 1/8 smaller is good enough, nor one of fewer than 16 units less one.
          const std::uint64_t units = shape.cells / unit;
          if (units > 1) {
            shape.cells -= std::max<std::uint64_t>(units / 8, 1) * unit;
            EXPECT_GT(predicted_fpr(shape, n), p) << shape << " " << n;
          }
        }
      }
    }
  }
}

// One key can fill such a block, so a few blocks have a higher FPR than the limit of many blocks.
TEST(Sizing, FiltersWithBlocksOfAFewCellsMeetTheRate) {
  for (const Kind kind : kKinds) {
    for (const std::uint64_t block : {64ULL, 128ULL, 256ULL}) {
      for (std::uint64_t n = 1; n < 200; n += 1 + n / 4) {
        for (int i = 0; i < 40; ++i) {
          const double p = 0.99 * std::pow(0.9, i);
          const Shape shape = size_filter(n, p, kind, block).shape;
          ASSERT_LE(predicted_fpr(shape, n), p) << shape << " " << n;
        }
      }
    }
  }
  for (int i = 0; i < 100; ++i) {
    const double p = 0.99 * std::pow(0.97, i);
    const Shape shape = size_filter(1, p, Kind::partitioned, 4).shape;
    ASSERT_LE(predicted_fpr(shape, 1), p) << shape;
  }
}

TEST(Sizing, FindsTheLargestValidFilter) {
  for (const Kind kind : kKinds) {
    std::uint64_t fits = 1;
    std::uint64_t too_many = kMaxKeys;
    std::uint64_t cells = 0;
    while (too_many - fits > kMaxKeys / 1'000'000) {
      const std::uint64_t n = fits + (too_many - fits) / 2;
      try {
        const Shape shape = size_filter(n, 0.01, kind).shape;
        ASSERT_LE(predicted_fpr(shape, n), 0.01) << shape << " " << n;
        ASSERT_LE(shape.cells, kMaxCells);
        cells = shape.cells;
        fits = n;
      } catch (const Error&) {
        too_many = n;
      }
    }
    // For a partitioned filter, size_filter() tries two values of k, and both must fit.
    const auto most = static_cast<double>(kMaxCells);
    EXPECT_GT(static_cast<double>(cells), (kind == Kind::partitioned ? 0.9 : 0.9999) * most)
        << name_of(kind);
  }
}

// n keys fall into the blocks at random. A block gets j keys with probability
//   C(n, j) (1 / blocks)^j (1 - 1 / blocks)^(n - j).
double mean_rate_of_blocks(const Shape& one, std::uint64_t blocks, std::uint64_t n) {
  const double share = 1 / static_cast<double>(blocks);
  const auto log_factorial = [](std::uint64_t x) {
    return std::lgamma(static_cast<double>(x) + 1);
  };
  double mean = 0;
  for (std::uint64_t j = 0; j <= n; ++j) {
    mean += predicted_fpr(one, j) *
            std::exp(log_factorial(n) - log_factorial(j) - log_factorial(n - j) +
                     static_cast<double>(j) * std::log(share) +
                     static_cast<double>(n - j) * std::log1p(-share));
  }
  return mean;
}

TEST(Sizing, TheRateOfBlocksIsTheMeanOverTheKeysPerBlock) {
  for (const Kind kind : kKinds) {
    for (const auto& [hashes, cells, capacity] :
         {std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>{4, 64, 20},
          {4, 512, 200},
          {8, 7'936, 1'000},
          {32, 7'936, 200}}) {
      const Shape one{.kind = kind, .hashes = hashes, .cells = cells, .block = cells};
      for (const std::uint64_t blocks : {2U, 3U, 10U}) {
        Shape several = one;
        several.cells = blocks * one.cells;
        for (const std::uint64_t n :
             {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, capacity / 2, capacity,
              capacity * blocks, 2 * capacity * blocks}) {
          EXPECT_NEAR(predicted_fpr(several, n) / mean_rate_of_blocks(one, blocks, n), 1, 1e-9)
              << several << " " << n;
        }
      }
    }
  }
}

TEST(Sizing, AFilterWithoutKeysHasRateZero) {
  for (const std::uint64_t m : {1ULL, 2ULL, 1000ULL}) {
    EXPECT_EQ(fpr_for(m, 0, 1), 0) << m;
    EXPECT_EQ(predicted_fpr({.kind = Kind::standard, .hashes = 3, .cells = 8 * m, .block = 8}, 0),
              0)
        << m;
  }
  EXPECT_EQ(fpr_for(1, 1, 1), 1);
}

// The capacities of one octave, from 1,000,000 on, in steps of 8 %.
std::vector<std::uint64_t> one_octave() {
  std::vector<std::uint64_t> capacities;
  for (std::uint64_t n = kMillion; n < 2 * kMillion; n += 83'333) {
    capacities.push_back(n);
  }
  return capacities;
}

TEST(Sizing, CostsLittleMoreThanTheClassicFormula) {
  for (const double p : {0.1, 0.01, 1e-3, 1e-4, 1e-6}) {
    for (const Kind kind : kKinds) {
      double sum = 0;
      double most = 0;
      for (const std::uint64_t n : one_octave()) {
        const auto cells = static_cast<double>(size_filter(10 * n, p, kind).shape.cells);
        const double ratio = cells / static_cast<double>(bits_for(10 * n, p));
        sum += ratio;
        most = std::max(most, ratio);
      }
      const double mean = sum / static_cast<double>(one_octave().size());
      EXPECT_LT(mean, kind == Kind::standard ? 1.06 : 1.09) << name_of(kind) << p;
      EXPECT_LT(most, 1.16) << name_of(kind) << p;
    }
  }
}

// Returns the shape of a filter with twice as many blocks, or with twice as many cells if there is
// a single block.
Shape doubled(Shape shape) {
  shape.block = shape.blocks() == 1 && shape.block != 0 ? 2 * shape.block : shape.block;
  shape.cells *= 2;
  return shape;
}

TEST(Sizing, CapacitiesAPowerOfTwoApartLineUpAbove8Chunks) {
  for (const Kind kind : kKinds) {
    for (const double p : {0.3, 0.01, 1e-6}) {
      for (std::uint64_t n : one_octave()) {
        for (n /= 8; n > 10'000; n /= 2) {
          const Shape small = size_filter(n, p, kind).shape;
          const Shape large = size_filter(2 * n, p, kind).shape;
          if (cell_bytes(small) > 8 * kChunkBytes) {
            ASSERT_EQ(large, doubled(small)) << n << " " << p;
          }
          const Shape small_blocks = size_filter(n, p, kind, 512).shape;
          const Shape large_blocks = size_filter(2 * n, p, kind, 512).shape;
          if (cell_bytes(small_blocks) > 8 * kChunkBytes) {
            ASSERT_EQ(large_blocks, doubled(small_blocks)) << n << " " << p;
          }
        }
      }
    }
  }
}

// The prediction for a single block is not the same at twice the size, so a few sizes differ.
TEST(Sizing, MostUnblockedAndSingleBlockFiltersLineUp) {
  int total = 0;
  int aligned = 0;
  const auto count = [&](const Shape& large, const Shape& small) {
    ++total;
    aligned += large == doubled(small) ? 1 : 0;
  };
  for (const double p : {0.1, 0.01, 1e-3}) {
    for (const std::uint64_t n : one_octave()) {
      count(size_filter(2 * n, p, Kind::standard, 0).shape,
            size_filter(n, p, Kind::standard, 0).shape);
      const std::uint64_t few = n / 2000;  // one block of at most half a chunk
      count(size_filter(2 * few, p, Kind::standard).shape,
            size_filter(few, p, Kind::standard).shape);
    }
  }
  EXPECT_GT(aligned, total * 9 / 10) << total;
}

TEST(Sizing, RatesNextToTheSmallestNumberEnd) {
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  for (const double p : {kSmallest, 20 * kSmallest, 1e-310, std::numeric_limits<double>::min()}) {
    for (const std::uint64_t block : {8U, 64U, 10'000U}) {
      for (const Kind kind : kKinds) {
        if (const auto header = find_size(10, p, kind, block)) {
          EXPECT_LE(predicted_fpr(header->shape, 10), p);
        }
      }
    }
  }
}

TEST(Sizing, ArgumentsOutOfRangeAreNamed) {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([] { size_filter(0, 0.01, Kind::standard); }),
            "capacity must be between 1 and 1099511627776, got 0");
  EXPECT_EQ(message([] { size_filter(kMaxKeys + 1, 0.01, Kind::standard); }),
            "capacity must be between 1 and 1099511627776, got 1099511627777");
  EXPECT_EQ(message([] { size_filter(1, 1.5, Kind::standard); }),
            "fpr must be between 0 and 1, got 1.5");
  EXPECT_EQ(message([] { size_filter(kMaxKeys, 0.01, Kind::standard); }),
            "capacity and fpr must be such that the filter has at most 1099511627776 cells, got "
            "capacity 1099511627776 and fpr 0.01");
  EXPECT_NE(message([] { bits_for(0, 0.1); }), "");
  EXPECT_TRUE(message([] { bits_for(1, std::nan("")); }).ends_with("between 0 and 1, got NaN"));
  EXPECT_NE(message([] { hashes_for(0, 1); }), "");
  EXPECT_NE(message([] { fpr_for(8, 1, 0); }), "");
  EXPECT_NE(message([] { fpr_for(8, 1, 3, Kind::partitioned); }), "");
  EXPECT_NE(message([] { capacity_for(8, 256, 0.1); }), "");
}

}  // namespace
}  // namespace bloom
