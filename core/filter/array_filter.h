// Lookups and changes of filters whose cells are in one array in memory, one key or many keys at a
// time.
//
// The fastest implementation depends on the shape and on the processor. The constructor selects a
// Kernel for them. All kernels use the positions of core/layout/geometry.h. remove() requires that
// the cells are counters.
#pragma once

#include <cassert>
#include <cstdint>

#include "core/filter/kernel.h"
#include "core/layout/shape.h"

namespace bloom {

// Looks up, adds and removes keys. Does not own the cells: each function takes their address.
class ArrayFilter {
 public:
  explicit ArrayFilter(const Shape& shape);

  const Geometry& geometry() const { return geometry_; }

  // For one key: see Filter. `cells` is the array of all cells.
  bool may_contain(Hash hash, const std::uint8_t* cells) const {
    return may_contain(hash, cells, geometry_.first_cell(hash));
  }
  bool add(Hash hash, std::uint8_t* cells) const {
    return add(hash, cells, geometry_.first_cell(hash));
  }
  bool remove(Hash hash, std::uint8_t* cells) const {
    return remove(hash, cells, geometry_.first_cell(hash));
  }

  // For one key, if `cells` holds only a part of all cells. The block of the key starts at cell
  // `first` of `cells`.
  bool may_contain(Hash hash, const std::uint8_t* cells, std::uint64_t first) const {
    return kernel_->may_contain(geometry_, hash, cells, first);
  }
  bool add(Hash hash, std::uint8_t* cells, std::uint64_t first) const {
    return kernel_->add(geometry_, hash, cells, first);
  }
  bool remove(Hash hash, std::uint8_t* cells, std::uint64_t first) const {
    assert(kernel_->remove != nullptr);
    return kernel_->remove(geometry_, hash, cells, first);
  }

  // For many keys: `cells` is the array of all cells. Sets answers[i] to 1 if the filter may
  // contain hashes[i], else to 0. Handling many keys at a time overlaps their cache misses.
  void may_contain(Kernel::Hashes hashes, const std::uint8_t* cells, std::uint8_t* answers) const {
    kernel_->may_contain_batch(geometry_, hashes, cells, answers);
  }
  void add(Kernel::Hashes hashes, std::uint8_t* cells) const {
    kernel_->add_batch(geometry_, hashes, cells);
  }

 private:
  Geometry geometry_;
  const Kernel* kernel_;
};

}  // namespace bloom
