#include "core/operations/delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <string>

#include "core/hashing/hash.h"
#include "core/layout/shape.h"
#include "core/support/bytes.h"

namespace bloom {
namespace {

constexpr std::array<std::uint8_t, 4> kDeltaMagic = {'B', 'L', 'M', 'D'};
constexpr std::uint8_t kDeltaVersion = 1;

enum DeltaOffset : std::size_t {
  kDeltaMagicAt = 0,
  kDeltaVersionAt = 4,
  kRemainderBitsAt = 5,
  kHasHeaderAt = 6,
  kReserved1At = 7,
  kBeforeAt = 8,
  kAfterAt = 16,
  kHeaderAt = kDeltaPrefixBytes,  // the header, if there is one, then the gaps
};

// 2^42 is the number of bits in the largest filter: kMaxCells counters of 4 bits.
constexpr unsigned kMaxRemainderBits = 42;

std::uint64_t bits_of(const Shape& shape) { return shape.cells * bits_per_cell(shape.kind); }

// A load of 8 bytes that starts within a byte has at least this many bits.
[[maybe_unused]] constexpr unsigned kMaxBitsAtOnce = 57;  // in assertions

// Returns a digest of the header and the cells. Hashes the cells slice by slice, so that the work
// can be interrupted.
std::uint64_t digest(const FilterView& filter, const InterruptCheck& check_interrupt) {
  const auto header = write_header(filter.header());
  std::string parts(header.begin(), header.end());
  for_each_piece(
      cell_bytes(filter.shape()), kPieceBytes, check_interrupt, [&](auto first, auto bytes) {
        const std::string_view slice(reinterpret_cast<const char*>(filter.cells() + first),
                                     static_cast<std::size_t>(bytes));
        std::array<std::uint8_t, 8> part{};
        store_le(part.data(), hash_key(slice, 0).h1);
        parts.append(part.begin(), part.end());
      });
  return hash_key(parts, 0).h1;
}

// Returns the next 8 bytes of `cells`, padded with zeros if only `left` bytes are left.
std::uint64_t word_at(const std::uint8_t* cells, std::uint64_t left) {
  if (left >= 8) {
    return load_le<std::uint64_t>(cells);
  }
  std::array<std::uint8_t, 8> padded{};
  std::copy_n(cells, left, padded.begin());
  return load_le<std::uint64_t>(padded.data());
}

// Calls f(word, index of its first bit) for each 64-bit word of `before` XOR `after`. If the shapes
// differ, `before` counts as all zeros.
template <typename F>
void for_each_difference(const FilterView& before, const FilterView& after,
                         const InterruptCheck& check_interrupt, F&& f) {
  const bool same_shape = before.shape() == after.shape();
  const std::uint64_t size = cell_bytes(after.shape());
  for_each_piece(size, kPieceBytes, check_interrupt, [&](auto first, auto bytes) {
    for (std::uint64_t i = first; i < first + bytes; i += 8) {
      const std::uint64_t old = same_shape ? word_at(before.cells() + i, size - i) : 0;
      f(word_at(after.cells() + i, size - i) ^ old, 8 * i);
    }
  });
}

// Returns an upper bound on the size, in bits, of the Golomb-Rice code of n gaps whose bits all lie
// before bit `end`: n ones, n remainders, and the zeros of the unary parts.
std::uint64_t max_code_bits(std::uint64_t n, std::uint64_t end, unsigned remainder_bits) {
  return n * (1 + remainder_bits) + ((end - n) >> remainder_bits);
}

// Returns the number of remainder bits for the shortest code. With 0 remainder bits, the code is
// the XOR of the cells itself, so it is never longer than the cells.
unsigned best_remainder_bits(std::uint64_t n, std::uint64_t end) {
  unsigned best = 0;
  for (unsigned bits = 1; bits <= kMaxRemainderBits; ++bits) {
    if (max_code_bits(n, end, bits) < max_code_bits(n, end, best)) {
      best = bits;
    }
  }
  return best;
}

class BitWriter {
 public:
  // Requires: `bytes` is zeroed and has 8 bytes more than are written, because write_bits() stores
  // 8 bytes.
  explicit BitWriter(std::uint8_t* bytes) : bytes_(bytes) {}

  void write_zeros(std::uint64_t bits) { at_ += bits; }
  // Requires: bits <= kMaxBitsAtOnce.
  void write_bits(std::uint64_t value, unsigned bits) {
    assert(bits <= kMaxBitsAtOnce);
    std::uint8_t* const word = bytes_ + at_ / 8;
    store_le(word, load_le<std::uint64_t>(word) | value << at_ % 8);
    at_ += bits;
  }
  std::uint64_t bytes() const { return (at_ + 7) / 8; }

 private:
  std::uint8_t* bytes_;
  std::uint64_t at_ = 0;
};

class BitReader {
 public:
  BitReader(ByteView bytes, const InterruptCheck& check_interrupt)
      : bytes_(bytes), end_(8 * std::uint64_t{bytes.size()}), periodic_check_(check_interrupt) {}

  std::uint64_t bits_left() const { return end_ - at_; }
  // Consumes zeros up to and including the next 1, and returns how many zeros there were. If there
  // is no further 1, consumes and returns all bits that are left.
  std::uint64_t read_unary() {
    const std::uint64_t from = at_;
    for (; at_ < end_; periodic_check_.step()) {
      const std::uint64_t bits = peek();
      if (bits != 0) {
        periodic_check_.step();
        at_ += static_cast<unsigned>(std::countr_zero(bits)) + 1;
        return at_ - from - 1;
      }
      at_ = std::min(end_, (at_ / 8 + 8) * 8);
    }
    return end_ - from;
  }
  // Requires: bits <= kMaxBitsAtOnce and bits <= bits_left().
  std::uint64_t read_bits(unsigned bits) {
    assert(bits <= kMaxBitsAtOnce && bits <= bits_left());
    const std::uint64_t value = peek() & ((std::uint64_t{1} << bits) - 1);
    at_ += bits;
    return value;
  }

 private:
  // Returns the next 57 bits or more. Bits after the end are 0.
  std::uint64_t peek() const {
    const auto byte = static_cast<std::size_t>(at_ / 8);
    return word_at(bytes_.data() + byte, bytes_.size() - byte) >> at_ % 8;
  }

  ByteView bytes_;
  std::uint64_t end_;
  PeriodicCheck periodic_check_;
  std::uint64_t at_ = 0;
};

// Flips the bits of `cells` that the delta names. Returns false if the gaps are not a valid code
// for `end` bits.
bool flip_bits(std::uint8_t* cells, std::uint64_t end, const DeltaView& delta,
               const InterruptCheck& check_interrupt) {
  BitReader reader(delta.gaps, check_interrupt);
  for (std::uint64_t next = 0;;) {
    const std::uint64_t left = reader.bits_left();
    const std::uint64_t quotient = reader.read_unary();
    if (quotient == left) {
      return left < 8;  // fewer than 8 zeros are the padding of the last byte
    }
    if (quotient > end >> delta.remainder_bits || reader.bits_left() < delta.remainder_bits) {
      return false;
    }
    const std::uint64_t gap =
        quotient << delta.remainder_bits | reader.read_bits(delta.remainder_bits);
    if (gap >= end - next) {
      return false;
    }
    next += gap;
    cells[next / 8] ^= static_cast<std::uint8_t>(1U << next % 8);
    ++next;
  }
}

}  // namespace

StoredDelta make_delta(const FilterView& before, const FilterView& after,
                       const InterruptCheck& check_interrupt) {
  std::uint64_t count = 0;
  for_each_difference(before, after, check_interrupt, [&](std::uint64_t word, std::uint64_t) {
    count += static_cast<unsigned>(std::popcount(word));
  });
  const std::uint64_t end = bits_of(after.shape());
  const unsigned remainder_bits = best_remainder_bits(count, end);
  const bool has_header = before.header() != after.header();
  const std::size_t gaps_at = kHeaderAt + (has_header ? kHeaderBytes : 0);
  const std::uint64_t most = gaps_at + (max_code_bits(count, end, remainder_bits) + 7) / 8;

  StoredDelta stored{zeroed_bytes(most + 8, Access::dense), 0};
  std::uint8_t* const bytes = stored.bytes.get();
  std::copy(kDeltaMagic.begin(), kDeltaMagic.end(), bytes + kDeltaMagicAt);
  bytes[kDeltaVersionAt] = kDeltaVersion;
  bytes[kRemainderBitsAt] = static_cast<std::uint8_t>(remainder_bits);
  bytes[kHasHeaderAt] = has_header ? 1 : 0;
  store_le(bytes + kBeforeAt, digest(before, check_interrupt));
  store_le(bytes + kAfterAt, digest(after, check_interrupt));
  if (has_header) {
    const auto header = write_header(after.header());
    std::copy(header.begin(), header.end(), bytes + kHeaderAt);
  }

  BitWriter writer(bytes + gaps_at);
  const std::uint64_t mask = (std::uint64_t{1} << remainder_bits) - 1;
  std::uint64_t next = 0;
  for_each_difference(before, after, check_interrupt, [&](std::uint64_t word, std::uint64_t first) {
    for (; word != 0; word &= word - 1) {
      const std::uint64_t bit = first + static_cast<unsigned>(std::countr_zero(word));
      const std::uint64_t gap = bit - next;
      writer.write_zeros(gap >> remainder_bits);
      writer.write_bits(1 | (gap & mask) << 1, 1 + remainder_bits);
      next = bit + 1;
    }
  });
  stored.size = gaps_at + writer.bytes();
  return stored;
}

std::variant<DeltaView, Problem> open_delta(ByteView stored) {
  if (stored.size() < kDeltaPrefixBytes) {
    return Problem::foreign("a delta has at least " + std::to_string(kDeltaPrefixBytes) +
                            " bytes, got " + std::to_string(stored.size()));
  }
  if (!std::equal(kDeltaMagic.begin(), kDeltaMagic.end(), stored.begin() + kDeltaMagicAt)) {
    return Problem::foreign("bad magic");
  }
  if (stored[kDeltaVersionAt] != kDeltaVersion) {
    return Problem::foreign("unknown version " + std::to_string(stored[kDeltaVersionAt]));
  }
  if (stored[kRemainderBitsAt] > kMaxRemainderBits || stored[kHasHeaderAt] > 1 ||
      stored[kReserved1At] != 0) {
    return Problem::damaged("a byte of its header is out of range");
  }
  DeltaView view{.remainder_bits = stored[kRemainderBitsAt],
                 .before_digest = load_le<std::uint64_t>(&stored[kBeforeAt]),
                 .after_digest = load_le<std::uint64_t>(&stored[kAfterAt]),
                 .header = std::nullopt,
                 .gaps = stored.subspan(kHeaderAt)};
  if (stored[kHasHeaderAt] != 0) {
    const auto header = read_header(view.gaps);
    if (const auto* problem = std::get_if<Problem>(&header)) {
      return *problem;
    }
    view.header = std::get<Header>(header);
    view.gaps = view.gaps.subspan(kHeaderBytes);
  }
  return view;
}

std::variant<Filter, Problem> apply_delta(const FilterView& before, const DeltaView& delta,
                                          const InterruptCheck& check_interrupt) {
  if (digest(before, check_interrupt) != delta.before_digest) {
    return Problem::foreign("it was made from another filter");
  }
  const Header& header = delta.header ? *delta.header : before.header();
  Filter after = before.shape() == header.shape ? Filter(before, check_interrupt) : Filter(header);
  after.set_target(header.capacity, header.fpr);
  if (!flip_bits(after.cells(), bits_of(after.shape()), delta, check_interrupt)) {
    return Problem::damaged("its positions do not fit the filter");
  }
  if (digest(after.view(), check_interrupt) != delta.after_digest) {
    return Problem::damaged("the result does not have the expected digest");
  }
  return after;
}

}  // namespace bloom
