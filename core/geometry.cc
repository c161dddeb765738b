#include "core/geometry.h"

#include "core/error.h"

namespace bloom {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::standard:
      return "standard";
    case Kind::counting:
      return "counting";
    case Kind::partitioned:
      return "partitioned";
  }
  return "unknown";
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const Kind kind : kKinds) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

std::optional<BrokenRule> broken_rule(const Shape& shape) {
  if (shape.cells < 1 || shape.cells > kMaxCells) {
    return BrokenRule{"m", "between 1 and " + std::to_string(kMaxCells),
                      std::to_string(shape.cells)};
  }
  if (shape.hashes < 1 || shape.hashes > kMaxHashes) {
    return BrokenRule{"k", "between 1 and " + std::to_string(kMaxHashes),
                      std::to_string(shape.hashes)};
  }
  if (shape.seed > kMaxSeed) {
    return BrokenRule{"seed", "between 0 and " + std::to_string(kMaxSeed),
                      std::to_string(shape.seed)};
  }
  if (shape.block > shape.cells || (shape.block != 0 && shape.cells % shape.block != 0)) {
    return BrokenRule{"block", "0 or a divisor of m = " + std::to_string(shape.cells),
                      std::to_string(shape.block)};
  }
  if (shape.kind == Kind::partitioned && shape.block_cells() % shape.hashes != 0) {
    return BrokenRule{shape.block == 0 ? "m" : "block",
                      "a multiple of k = " + std::to_string(shape.hashes) +
                          " (a partitioned filter has k equal slices)",
                      std::to_string(shape.block_cells())};
  }
  return std::nullopt;
}

void require_valid(const Shape& shape) {
  if (const auto broken = broken_rule(shape)) {
    refuse(broken->subject, broken->rule, broken->value);
  }
}

Fold fold_of(const Shape& shape) {
  if (shape.blocks() % 2 == 0) {
    return Fold::blocks;
  }
  return shape.span() % 2 == 0 ? Fold::cells : Fold::none;
}

Shape halved(const Shape& shape) {
  Shape half = shape;
  half.cells /= 2;
  if (fold_of(shape) == Fold::cells) {
    half.block /= 2;
  }
  return half;
}

Geometry::Geometry(const Shape& shape)
    : blocks_(shape.blocks()),
      block_cells_(shape.block_cells()),
      span_(shape.span()),
      slice_(shape.kind == Kind::partitioned ? shape.span() : 0),
      hashes_(shape.hashes),
      unblocked_(shape.block == 0) {}

}  // namespace bloom
