// Measured false-positive rates against the predicted ones, from 1 KiB to 256 MiB:
//   fpr_bench [largest size in MiB [million questions a row]]
// Prints a Markdown table. A row is marked when the ratio leaves 0.97..1.03 by more than chance
// explains (four standard deviations); the exit status is then 1.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/sizing.h"
#include "tests/support/measure.h"

namespace {

using namespace bloom;

constexpr std::uint64_t kKiB = 1024;

// As many keys as the cells take at rate p with blocks of this kind.
std::uint64_t keys_for(const Shape& shape, double p) {
  std::uint64_t low = 1;
  std::uint64_t high = shape.cells;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (predicted_rate(shape, middle) <= p) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

bool print_row(const char* layout, const Shape& shape, double p, std::uint64_t probes) {
  const std::uint64_t n = keys_for(shape, p);
  const double predicted = predicted_rate(shape, n);
  const Header header{.shape = shape, .capacity = 0, .fpr = 0};
  const auto measured = test::measure_rate(header, n, 8'000'000, probes, predicted);
  const double ratio = measured.rate / predicted;
  const double sigma = measured.sigma / predicted;
  const double off = ratio > 1 ? ratio - 1.03 : 0.97 - ratio;
  const bool good = off <= 4 * sigma;
  std::printf("| %s | %s | %llu | %u | %.3g | %.3g | %.3f | %.3f |%s\n",
              std::string(name_of(shape.kind)).c_str(), layout,
              static_cast<unsigned long long>(cell_bytes(shape) / kKiB), shape.hashes, predicted,
              measured.rate, ratio, sigma, good ? "" : " **off**");
  std::fflush(stdout);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t largest = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) * kKiB;
  const std::uint64_t probes = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20) * 1'000'000;
  std::printf("| kind | block | KiB | k | predicted | measured | ratio | 1 sigma |\n"
              "|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const Kind kind : kKinds) {
    for (std::uint64_t kib = 1; kib <= largest; kib *= 16) {
      for (const double p : {1e-1, 1e-2, 1e-3, 1e-4, 1e-6}) {
        const std::uint32_t k = header_for(1000, p, kind).shape.hashes;
        const std::uint64_t chunk = kChunkBytes * 8 / bits_per_cell(kind);
        const std::uint64_t wanted = kib * kKiB * 8 / bits_per_cell(kind);
        const Shape chunks{kind, k, wanted / chunk * chunk, chunk, 0};
        const Shape one{kind, k, wanted / k * k, wanted / k * k, 0};
        good &= wanted > chunk ? print_row("chunk", chunks, p, probes) : print_row("one", one, p, probes);
        good &= print_row("whole", Shape{kind, k, wanted / k * k, 0, 0}, p, probes);
        if (kind != Kind::partitioned || 512 % k == 0) {
          good &= print_row("512", Shape{kind, k, wanted, 512, 0}, p, probes);
        }
      }
    }
  }
  return good ? 0 : 1;
}
