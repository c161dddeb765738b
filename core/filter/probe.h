// Asks and changes filters whose cells are at hand, key by key or many keys at a time.
//
// How that is done best depends on the shape and on the processor: a Kernel for each, chosen once.
// All of them find the cells that core/layout/geometry.h says.
#pragma once

#include <cstdint>
#include <span>

#include "core/filter/kernel.h"
#include "core/layout/shape.h"

namespace bloom {

class Probe {
 public:
  explicit Probe(const Shape& shape);

  const Geometry& geometry() const { return geometry_; }

  // See Filter. Of an array in which the block of the key starts at cell `first`.
  bool may_contain(Hash hash, const std::uint8_t* cells, std::uint64_t first) const {
    return kernel_->may_contain(geometry_, hash, cells, first);
  }
  bool add(Hash hash, std::uint8_t* cells, std::uint64_t first) const {
    return kernel_->add(geometry_, hash, cells, first);
  }
  // REQUIRES: counters
  bool remove(Hash hash, std::uint8_t* cells, std::uint64_t first) const {
    return kernel_->remove(geometry_, hash, cells, first);
  }

  // Of the array of all cells. answers[i] becomes 1 if the filter may contain hashes[i], else 0.
  // Many keys at a time wait for memory together instead of one after another.
  void may_contain(Kernel::Hashes hashes, const std::uint8_t* cells, std::uint8_t* answers) const {
    kernel_->may_contain_all(geometry_, hashes, cells, answers);
  }
  void add(Kernel::Hashes hashes, std::uint8_t* cells) const {
    kernel_->add_all(geometry_, hashes, cells);
  }

 private:
  Geometry geometry_;
  const Kernel* kernel_;
};

}  // namespace bloom
