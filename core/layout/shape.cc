#include "core/layout/shape.h"

#include "core/support/ascii.h"
#include "core/support/error.h"

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
    if (equal_ignoring_case(name_of(kind), name)) {
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

std::uint32_t bits_per_cell(Kind kind) { return kind == Kind::counting ? 4 : 1; }

std::uint64_t cell_bytes(const Shape& shape) {
  return (shape.cells * bits_per_cell(shape.kind) + 7) / 8;
}

}  // namespace bloom
