// The mapping from a hash to the positions of a key's cells. Every position follows from these
// rules. core/filter/block512_x86.cc computes the same positions with vector instructions.
//
// A filter has m cells. It is unblocked (the classic Bloom filter) or blocked: divided into equal
// blocks of b cells. A partitioned filter divides the whole array, or each block, into k equal
// slices. Each position i = 0..k-1 is computed from a 64-bit word x_i by multiply-shift:
//   reduce(x, n) = (x * n) >> 64                    D. Lemire, doi:10.1145/3230636
//   unblocked  x_i = h1 + i * h2                    A. Kirsch, M. Mitzenmacher, ESA 2006
//   blocked    block = reduce(h1, m / b), x_0 = h2, x_i = x_(i-1) * kMcgMultiplier
// In a blocked filter h1 chooses the block, so x_i must not use h1 again. When it did, measured
// false-positive rates were up to 300 times too high.
//
// x_i does not depend on m, so a filter can be halved exactly: see core/layout/halving.h.
#pragma once

#include <cstdint>

#include "core/hashing/hash.h"
#include "core/layout/shape.h"
#include "core/support/multiply.h"

namespace bloom {

// Maps x, uniform over all 64-bit values, to 0..n-1.
constexpr std::uint64_t reduce(std::uint64_t x, std::uint64_t n) { return multiply_high(x, n); }

// The multiplier of the congruential generator, which has good spectral properties: G. Steele, S.
// Vigna, doi:10.1002/spe.3030.
inline constexpr std::uint64_t kMcgMultiplier = 0xf1357aea2e62a9c5;

class Geometry {
 public:
  explicit Geometry(const Shape& shape);  // Requires: !broken_rule(shape)

  std::uint32_t hashes() const { return hashes_; }
  // Returns whether each of the k positions has its own slice.
  bool is_partitioned() const { return slice_ != 0; }

  // Return the block that contains all cells of the key, and the index of its first cell.
  std::uint64_t block_of(Hash hash) const { return reduce(hash.h1, blocks_); }
  std::uint64_t first_cell(Hash hash) const { return block_of(hash) * block_cells_; }

  // Returns f(Step(), Slices()) with the policies of ProbeSequence that match this geometry.
  template <typename F>
  auto with_policies(F&& f) const;
  // Returns f(sequence), where sequence is the ProbeSequence of the key.
  template <typename F>
  auto with_sequence(Hash hash, F&& f) const;

  // Calls f(cell) for each of the k cells of the key, in order.
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
  std::uint64_t probe_range_ = 1;
  std::uint64_t slice_ = 0;  // cells per slice; 0 if there are no slices
  std::uint32_t hashes_ = 1;
  bool unblocked_ = true;
};

// Policies of ProbeSequence: the computation of x_i from x_(i-1). DoubleHashing is that of Kirsch
// and Mitzenmacher, for unblocked filters. CongruentialGenerator is a multiplicative congruential
// generator (MCG, D. Lehmer) with seed h2, for blocked filters.
struct DoubleHashing {
  static std::uint64_t first(Hash hash) { return hash.h1; }
  static std::uint64_t next(std::uint64_t x, Hash hash) { return x + hash.h2; }
};
struct CongruentialGenerator {
  static std::uint64_t first(Hash hash) { return hash.h2; }
  static std::uint64_t next(std::uint64_t x, Hash) { return x * kMcgMultiplier; }
};

// Policies of ProbeSequence: all k positions share the cells of the block, or position i is in
// slice i, as in partitioned filters.
struct Unpartitioned {
  static std::uint64_t advance(std::uint64_t) { return 0; }
};
struct Partitioned {
  static std::uint64_t advance(std::uint64_t slice) { return slice; }
};

// Generates the positions of a key's cells in order, relative to the first cell of its block.
// Requires: Step and Slices match the geometry.
template <typename Step, typename Slices>
class ProbeSequence {
 public:
  ProbeSequence(const Geometry& geometry, Hash hash)
      : hash_(hash),
        x_(Step::first(hash)),
        probe_range_(geometry.probe_range_),
        slice_(geometry.slice_) {}

  std::uint64_t next() {
    const std::uint64_t cell = base_ + reduce(x_, probe_range_);
    x_ = Step::next(x_, hash_);
    base_ += Slices::advance(slice_);
    return cell;
  }

 private:
  Hash hash_;
  std::uint64_t x_;
  std::uint64_t probe_range_;
  std::uint64_t slice_;
  std::uint64_t base_ = 0;
};

// The probe sequence of a standard filter with blocks.
using BlockSequence = ProbeSequence<CongruentialGenerator, Unpartitioned>;

template <typename F>
auto Geometry::with_policies(F&& f) const {
  if (is_partitioned()) {
    return unblocked_ ? f(DoubleHashing(), Partitioned())
                      : f(CongruentialGenerator(), Partitioned());
  }
  return unblocked_ ? f(DoubleHashing(), Unpartitioned())
                    : f(CongruentialGenerator(), Unpartitioned());
}

template <typename F>
auto Geometry::with_sequence(Hash hash, F&& f) const {
  return with_policies([&](auto step, auto slices) {
    return f(ProbeSequence<decltype(step), decltype(slices)>(*this, hash));
  });
}

}  // namespace bloom
