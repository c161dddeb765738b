// Asks and changes filters whose cells are at hand, key by key or many keys at a time.
#pragma once

#include <cstdint>
#include <span>

#include "core/bytes.h"
#include "core/cells.h"
#include "core/geometry.h"
#include "core/key_cells.h"
#include "core/line.h"

namespace bloom {

class Probe {
 public:
  explicit Probe(const Shape& shape)
      : geometry_(shape), words_(shape.kind == Kind::standard && shape.block % 32 == 0 && shape.block > 512), kind_(shape.kind), line_(line_kernel_for(shape)) {}

  const Geometry& geometry() const { return geometry_; }

  // Of an array in which the block of the key starts at cell `first`. See Filter.
  bool may_contain(const Hash& hash, const std::uint8_t* cells, std::uint64_t first) const {
    if (words_) {
      return may_contain_in_words(cells + first / 8, hash.h2);
    }
    if (line_ != nullptr) {
      return line_->may_contain(cells + first / 8, hash.h2, geometry_.hashes());
    }
    const auto walk = geometry_.walk_from(first, hash);
    return kind_ == Kind::counting
               ? may_contain_key_at_hand(geometry_.hashes(), walk,
                                         ArrayOf<Counters, const std::uint8_t>{cells})
               : may_contain_key_at_hand(geometry_.hashes(), walk,
                                         ArrayOf<Bits, const std::uint8_t>{cells});
  }
  bool add(const Hash& hash, std::uint8_t* cells, std::uint64_t first) const {
    const auto walk = geometry_.walk_from(first, hash);
    return kind_ == Kind::counting
               ? add_key(geometry_.hashes(), walk, ArrayOf<Counters, std::uint8_t>{cells})
               : add_key(geometry_.hashes(), walk, ArrayOf<Bits, std::uint8_t>{cells});
  }
  bool remove(const Hash& hash, std::uint8_t* cells, std::uint64_t first) const {
    return remove_key(geometry_.hashes(), geometry_.walk_from(first, hash),
                      ArrayOf<Counters, std::uint8_t>{cells});
  }

  // Of the array of all cells. answers[i] becomes 1 if the filter may contain hashes[i], else 0.
  // Many keys at a time wait for memory together instead of one after another.
  void may_contain(std::span<const Hash> hashes, const std::uint8_t* cells,
                   std::uint8_t* answers) const;
  void add(std::span<const Hash> hashes, std::uint8_t* cells) const;

 private:
  bool may_contain_in_words(const std::uint8_t* block, std::uint64_t x) const {
    const std::uint64_t span = geometry_.span();
    const auto next = [&] { const std::uint64_t p = reduce(x, span); x *= Geometry::kRemix; return load_le<std::uint32_t>(block + p / 32 * 4) >> (p % 32); };
    std::uint32_t k = geometry_.hashes();
    for (; k >= 4; k -= 4) {
      std::uint32_t used = next();
      used &= next();
      used &= next();
      used &= next();
      if ((used & 1) == 0) return false;
    }
    std::uint32_t used = 1;
    for (; k > 0; --k) used &= next();
    return used & 1;
  }
  Geometry geometry_;
  bool words_;
  Kind kind_;
  const LineKernel* line_;  // null for cells that it does not know
};

}  // namespace bloom
