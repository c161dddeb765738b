// The shape of a filter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/hashing/collation.h"
#include "core/hashing/hash.h"

namespace bloom {

enum class Kind : std::uint8_t { standard = 1, counting = 2, partitioned = 3 };

inline constexpr Kind kKinds[] = {Kind::standard, Kind::counting, Kind::partitioned};
inline constexpr std::string_view kKindRule = "'standard', 'counting' or 'partitioned'";

std::string_view name_of(Kind kind);
// Returns the kind with this name, or nullopt. Ignores the case of `name`.
std::optional<Kind> kind_named(std::string_view name);

inline constexpr std::uint64_t kMaxCells = std::uint64_t{1} << 40;
inline constexpr std::uint32_t kMaxHashes = 255;

// All parameters that determine the cells of a key. Filters of equal shape can be merged cell by
// cell.
struct Shape {
  Kind kind = Kind::standard;
  std::uint32_t hashes = 0;  // k, 1..kMaxHashes
  std::uint64_t cells = 0;   // m, 1..kMaxCells
  std::uint64_t block = 0;   // b, a divisor of m; 0: unblocked
  std::uint32_t seed = 0;    // of the hash function, 0..kMaxSeed
  Collation collation = Collation::binary;

  // The number of blocks, and of cells per block. An unblocked filter counts as one block.
  std::uint64_t blocks() const { return block == 0 ? 1 : cells / block; }
  std::uint64_t block_cells() const { return block == 0 ? cells : block; }
  // The number of cells among which one probe chooses: those of a block, or of a slice if
  // partitioned.
  std::uint64_t probe_range() const {
    return kind == Kind::partitioned ? block_cells() / hashes : block_cells();
  }

  bool operator==(const Shape&) const = default;
};

// A rule that a shape breaks. The members are the arguments of bloom::refuse().
struct BrokenRule {
  std::string subject;
  std::string rule;
  std::string value;
};
// Returns the first rule that `shape` breaks, or nullopt if it is valid.
std::optional<BrokenRule> broken_rule(const Shape& shape);
// Throws bloom::Error if `shape` breaks a rule.
void require_valid(const Shape& shape);

// Return the bits per cell, and the size of all cells of a filter in bytes, without the header.
std::uint32_t bits_per_cell(Kind kind);
std::uint64_t cell_bytes(const Shape& shape);

}  // namespace bloom
