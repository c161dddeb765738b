// Measured false-positive rates against predicted ones, for filters from 1 KiB to 256 MiB:
//   fpr_bench [largest size in MiB [million lookups per row]]
// Prints a Markdown table. A row is marked if the measured FPR deviates by more than 3 % plus what
// chance explains (four standard deviations and four hits). The exit status is 1 if a row is
// marked.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/layout/chunk_layout.h"
#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "tests/support/measure.h"

namespace {

using namespace bloom;

constexpr std::uint64_t kKiB = 1024;

// Returns the largest number of keys for which the predicted FPR of the shape is at most p.
std::uint64_t keys_for(const Shape& shape, double p) {
  std::uint64_t low = 1;
  std::uint64_t high = shape.cells;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (predicted_fpr(shape, middle) <= p) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Returns the largest excess of the FPR over that of independent hash functions. Only small
// unblocked filters have such an excess: see docs/experiments.md.
double family_excess(const Shape& shape, std::uint64_t n) {
  const auto m = static_cast<double>(shape.cells);
  return shape.block == 0 ? 8 * static_cast<double>(n) / (m * m) : 0;
}

bool print_row(const char* layout, const Shape& shape, double p, std::uint64_t probes) {
  const std::uint64_t n = keys_for(shape, p);
  const double predicted = predicted_fpr(shape, n);
  const double highest = predicted + family_excess(shape, n);
  const Header header{.shape = shape, .capacity = 0, .fpr = 0};
  const auto measured = test::measure_rate(header, n, 8'000'000, probes, highest);
  const double chance = 4 * (measured.sigma + measured.hit);
  const bool good =
      measured.rate >= 0.97 * predicted - chance && measured.rate <= 1.03 * highest + chance;
  std::printf("| %s | %s | %llu | %u | %.3g | %.3g | %.3f (%.3f) |%s\n",
              std::string(name_of(shape.kind)).c_str(), layout,
              static_cast<unsigned long long>((cell_bytes(shape) + kKiB / 2) / kKiB), shape.hashes,
              predicted, measured.rate, measured.rate / predicted, measured.sigma / predicted,
              good ? "" : " **off**");
  std::fflush(stdout);
  return good;
}

bool print_rows(Kind kind, std::uint64_t kib, double p, std::uint64_t probes) {
  const std::uint32_t k = size_filter(1000, p, kind).shape.hashes;
  const std::uint64_t chunk = kChunkBytes * 8 / bits_per_cell(kind);
  const std::uint64_t wanted = kib * kKiB * 8 / bits_per_cell(kind);
  const std::uint64_t divided = wanted / k * k;  // partitioned filters need k equal slices
  const Shape blocks =
      wanted > chunk
          ? Shape{.kind = kind, .hashes = k, .cells = wanted / chunk * chunk, .block = chunk}
          : Shape{.kind = kind, .hashes = k, .cells = divided, .block = divided};
  bool good = print_row("as made", blocks, p, probes);
  good &= print_row("0", Shape{.kind = kind, .hashes = k, .cells = divided}, p, probes);
  good &=
      print_row("512", Shape{.kind = kind, .hashes = k, .cells = wanted, .block = 512}, p, probes);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t largest = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) * kKiB;
  const std::uint64_t probes = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20) * 1'000'000;
  constexpr std::uint64_t kSlow = 64 * kKiB;  // from this size on, a row takes many seconds
  std::printf(
      "| kind | block | KiB | k | predicted | measured | ratio (1 sigma) |\n"
      "|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const Kind kind : kKinds) {
    for (const std::uint64_t kib :
         {1ULL, 16ULL, 256ULL, 4 * 1024ULL, 64 * 1024ULL, 256 * 1024ULL}) {
      for (const double p : {1e-1, 1e-2, 1e-3, 1e-4, 1e-6}) {
        if (kib <= largest && (kib < kSlow || p == 1e-2 || p == 1e-4)) {
          good &= print_rows(kind, kib, p, probes);
        }
      }
    }
  }
  return good ? 0 : 1;
}
