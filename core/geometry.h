// Where the cells of a key are. Nothing else in the project turns a hash into positions.
//
// m cells are one whole (the classic filter) or equal blocks of b cells; a partitioned filter cuts
// the whole, or each block, into k equal slices. Positions come from a 64-bit word that does not
// depend on m, brought into range by multiply-shift:
//   reduce(x, n) = (x * n) >> 64                 D. Lemire, doi:10.1145/3230636
//   whole    x_i = h1 + i * h2                   A. Kirsch, M. Mitzenmacher, ESA 2006
//   blocks   block = reduce(h1, m / b), x_0 = h2, x_i = x_(i-1) * kRemix
// In blocks h1 must not take part again: with it measured rates were up to 300 times too high.
//
// Because x_i does not depend on m, a filter can be halved exactly: position p in m cells is
// position p / 2 in m / 2 cells. So cell i of the half is cell 2i merged with cell 2i + 1, or block
// i is block 2i merged with block 2i + 1, and
//   halve(build(m, keys)) == build(m / 2, keys)  bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/collation.h"
#include "core/hash.h"

namespace bloom {

enum class Kind : std::uint8_t { standard = 1, counting = 2, partitioned = 3 };

inline constexpr Kind kKinds[] = {Kind::standard, Kind::counting, Kind::partitioned};
inline constexpr std::string_view kKindRule = "'standard', 'counting' or 'partitioned'";

std::string_view name_of(Kind kind);
std::optional<Kind> kind_named(std::string_view name);

inline constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 40;
inline constexpr std::uint32_t kMaxHashes = 255;

// Everything that decides the positions of a key. Filters of one shape can be merged cell by cell.
struct Shape {
  Kind kind = Kind::standard;
  std::uint32_t hashes = 0;  // k, 1..kMaxHashes
  std::uint64_t cells = 0;   // m, 1..kMaxCells
  std::uint64_t block = 0;   // b, a divisor of m; 0 is the whole
  std::uint32_t seed = 0;    // of the hash, 0..kMaxSeed
  Collation collation = Collation::binary;

  std::uint64_t blocks() const { return block == 0 ? 1 : cells / block; }
  std::uint64_t block_cells() const { return block == 0 ? cells : block; }
  // The cells that one position of a key is chosen from: a block, or one of its slices.
  std::uint64_t span() const {
    return kind == Kind::partitioned ? block_cells() / hashes : block_cells();
  }

  bool operator==(const Shape&) const = default;
};

// A rule that a shape breaks, in the terms of bloom::refuse().
struct BrokenRule {
  std::string subject;
  std::string rule;
  std::string value;
};
std::optional<BrokenRule> broken_rule(const Shape& shape);
// Throws bloom::Error for a broken rule.
void require_valid(const Shape& shape);

// How a shape can be halved: by merging neighbouring blocks while their number is even, then
// neighbouring cells.
enum class Fold { none, blocks, cells };
Fold fold_of(const Shape& shape);
Shape halved(const Shape& shape);  // REQUIRES: fold_of(shape) != Fold::none

// Calls f(part, first, count) for the parts of a run of cells that fall into parts of `size` cells
// each, in order.
template <typename F>
void for_each_part(std::uint64_t first, std::uint64_t count, std::uint64_t size, F&& f) {
  for (const std::uint64_t end = first + count; first < end;) {
    const std::uint64_t part = first / size;
    const std::uint64_t n = std::min(end, (part + 1) * size) - first;
    f(part, first, n);
    first += n;
  }
}

// Cells first..first+count-1 of a filter that is halved, which go to cell `to` of the half and
// those after it: each to one of its own (Fold::blocks), or two and two to one (Fold::cells).
struct FoldRun {
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t to;
};

// Calls f(run) for the runs that cells begin..end-1 of the half of a filter are made of. None lies
// before cell `to`, so that a filter can be halved in place from its first cell on.
template <typename F>
void for_each_fold_run(const Shape& shape, std::uint64_t begin, std::uint64_t end, F&& f) {
  if (fold_of(shape) == Fold::cells) {
    f(FoldRun{2 * begin, 2 * (end - begin), begin});
    return;
  }
  for (std::uint64_t to = begin; to < end;) {
    const std::uint64_t in_block = to % shape.block;
    const std::uint64_t count = std::min(shape.block - in_block, end - to);
    const std::uint64_t even = 2 * (to - in_block) + in_block;
    f(FoldRun{even, count, to});
    f(FoldRun{even + shape.block, count, to});
    to += count;
  }
}

// The high 64 bits of a product, from 32-bit halves, where the compiler has no 128-bit integer.
constexpr std::uint64_t multiply_high_portable(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow);
  const std::uint64_t mid1 = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t mid2 = (a & kLow) * (b >> 32) + (mid1 & kLow);
  return (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32);
}

// x, uniform over 64 bits, brought into 0..n-1.
constexpr std::uint64_t reduce(std::uint64_t x, std::uint64_t n) {
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(x) * n) >> 64);
#else
  return multiply_high_portable(x, n);
#endif
}

// A multiplier with good spectral behaviour; G. Steele, S. Vigna, doi:10.1002/spe.3030.
inline constexpr std::uint64_t kRemix = 0xf1357aea2e62a9c5;

class Geometry {
 public:
  explicit Geometry(const Shape& shape);  // REQUIRES: !broken_rule(shape)

  std::uint32_t hashes() const { return hashes_; }
  bool is_unblocked() const { return unblocked_; }
  bool is_sliced() const { return slice_ != 0; }

  // All cells of a key lie in this block, and none before this cell.
  std::uint64_t block_of(Hash hash) const { return reduce(hash.h1, blocks_); }
  std::uint64_t first_cell(Hash hash) const { return block_of(hash) * block_cells_; }

  // Returns f(the ProbeSequence of a key).
  template <typename F>
  auto with_sequence(Hash hash, F&& f) const;

  // Calls f(cell) for the k cells of a key, in order.
  template <typename F>
  void for_each_cell(Hash hash, F&& f) const {
    const std::uint64_t first = first_cell(hash);
    with_sequence(hash, [&](auto sequence) {
      for (std::uint32_t i = 0; i < hashes_; ++i) {
        f(first + sequence.next());
      }
    });
  }

 private:
  template <typename Step, typename Slices>
  friend class ProbeSequence;

  std::uint64_t blocks_ = 1;
  std::uint64_t block_cells_ = 1;
  std::uint64_t span_ = 1;
  std::uint64_t slice_ = 0;  // from one slice to the next; 0 without slices
  std::uint32_t hashes_ = 1;
  bool unblocked_ = true;
};

// Policies of ProbeSequence: how x_i follows from x_(i-1).
struct DoubleHashing {  // unblocked filters
  static std::uint64_t first(Hash hash) { return hash.h1; }
  static std::uint64_t next(std::uint64_t x, Hash hash) { return x + hash.h2; }
};
struct Remix {  // blocked filters
  static std::uint64_t first(Hash hash) { return hash.h2; }
  static std::uint64_t next(std::uint64_t x, Hash) { return x * kRemix; }
};

// Policies of ProbeSequence: whether each position has a slice of its own.
struct OneSpan {
  static std::uint64_t advance(std::uint64_t) { return 0; }
};
struct EqualSlices {  // partitioned filters
  static std::uint64_t advance(std::uint64_t slice) { return slice; }
};

// The positions of a key's cells, one after another, counted from the first cell of its block.
// REQUIRES: the policies are those of the geometry.
template <typename Step, typename Slices>
class ProbeSequence {
 public:
  ProbeSequence(const Geometry& geometry, Hash hash)
      : hash_(hash), x_(Step::first(hash)), span_(geometry.span_), slice_(geometry.slice_) {}

  std::uint64_t next() {
    const std::uint64_t cell = base_ + reduce(x_, span_);
    x_ = Step::next(x_, hash_);
    base_ += Slices::advance(slice_);
    return cell;
  }

 private:
  Hash hash_;
  std::uint64_t x_;
  std::uint64_t span_;
  std::uint64_t slice_;
  std::uint64_t base_ = 0;
};

template <typename F>
auto Geometry::with_sequence(Hash hash, F&& f) const {
  if (is_sliced()) {
    return unblocked_ ? f(ProbeSequence<DoubleHashing, EqualSlices>(*this, hash))
                      : f(ProbeSequence<Remix, EqualSlices>(*this, hash));
  }
  return unblocked_ ? f(ProbeSequence<DoubleHashing, OneSpan>(*this, hash))
                    : f(ProbeSequence<Remix, OneSpan>(*this, hash));
}

}  // namespace bloom
