#include "core/layout/geometry.h"

#include <cassert>

#include "core/layout/shape.h"

namespace bloom {

Geometry::Geometry(const Shape& shape)
    : blocks_(shape.blocks()),
      block_cells_(shape.block_cells()),
      probe_range_(shape.probe_range()),
      slice_(shape.kind == Kind::partitioned ? shape.probe_range() : 0),
      hashes_(shape.hashes),
      unblocked_(shape.block == 0) {
  assert(!broken_rule(shape));
}

}  // namespace bloom
