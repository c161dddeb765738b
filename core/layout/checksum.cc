#include "core/layout/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "core/hashing/hash.h"
#include "core/layout/geometry.h"
#include "core/support/bytes.h"
#include "core/support/multiply.h"

namespace bloom {
namespace {

constexpr std::uint64_t kPairBytes = 16;
constexpr std::uint64_t kMultiplier = kMcgMultiplier;

// The sum of the pairs so far, and the keys of the next two pairs.
class PairSum {
 public:
  static constexpr std::uint64_t kStepBytes = 2 * kPairBytes;

  // Requires: `bytes` is a multiple of kStepBytes. Two keys at a time: one multiplication need not
  // wait for the other.
  void add(const std::uint8_t* cells, std::uint64_t bytes) {
    assert(bytes % kStepBytes == 0);
    PairSum here = *this;  // a local copy stays in registers
    for (const std::uint8_t* const end = cells + bytes; cells != end; cells += kStepBytes) {
      here.even_.add_pair(cells);
      here.odd_.add_pair(cells + kPairBytes);
    }
    *this = here;
  }

  std::uint64_t hash() const {
    ProductSum sum = even_.sum;
    sum.add(odd_.sum);
    std::array<std::uint8_t, 16> bytes{};
    store_le(bytes.data(), sum.low());
    store_le(bytes.data() + 8, sum.high());
    return hash_key({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0).h1;
  }

 private:
  struct EverySecond {
    std::uint64_t key;
    ProductSum sum;

    void add_pair(const std::uint8_t* pair) {
      sum.add_product(load_le<std::uint64_t>(pair) + key,
                      load_le<std::uint64_t>(pair + 8) + std::rotl(key, 32));
      key *= kMultiplier * kMultiplier;
    }
  };

  EverySecond even_{.key = kMultiplier, .sum = {}};
  EverySecond odd_{.key = kMultiplier * kMultiplier, .sum = {}};
};

}  // namespace

std::uint64_t checksum_of_cells(const std::uint8_t* cells, std::uint64_t bytes,
                                const InterruptCheck& check_interrupt) {
  static_assert(kPieceBytes % PairSum::kStepBytes == 0);
  PairSum sum;
  const std::uint64_t rest = bytes % PairSum::kStepBytes;
  for_each_piece(bytes - rest, kPieceBytes, check_interrupt,
                 [&](auto first, auto count) { sum.add(cells + first, count); });
  if (rest != 0) {
    std::array<std::uint8_t, PairSum::kStepBytes> padded{};
    std::copy_n(cells + bytes - rest, rest, padded.begin());
    sum.add(padded.data(), padded.size());
  }
  return sum.hash();
}

}  // namespace bloom
