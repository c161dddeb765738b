// The stored form of a filter: a header of 64 bytes, then the cells. docs/format.md specifies the
// bytes, and golden files in the tests fix them. No other source file knows an offset of the
// header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "core/layout/shape.h"

namespace bloom {

using ByteView = std::span<const std::uint8_t>;

inline constexpr std::size_t kHeaderBytes = 64;

struct Header {
  Shape shape;
  std::uint64_t capacity = 0;  // keys that the filter was sized for; 0: unknown
  double fpr = 0;              // FPR that it was sized for; 0: unknown

  bool operator==(const Header&) const = default;
};

// Returns the size of a stored filter in bytes: header and cells.
std::uint64_t stored_bytes(const Shape& shape);

// What every stored filter begins with.
inline constexpr std::array<std::uint8_t, 4> kFilterMagic = {'B', 'L', 'M', 'F'};
// Returns whether `stored` has the length and the first bytes of a filter.
inline bool may_be_filter(ByteView stored) {
  return stored.size() >= kHeaderBytes &&
         std::equal(kFilterMagic.begin(), kFilterMagic.end(), stored.begin());
}

using HeaderBytes = std::array<std::uint8_t, kHeaderBytes>;

// Returns the stored form of a header alone, as tables and deltas contain it: format version 1,
// which has no checksum of the cells. Requires: !broken_rule(header.shape).
HeaderBytes write_header(const Header& header);
// Returns the stored form of the header of a filter: format version 2, with the checksum of its
// cells (core/layout/checksum.h). Requires: !broken_rule(header.shape).
HeaderBytes write_filter_header(const Header& header, std::uint64_t cell_checksum);

// The reason why stored bytes are not a valid filter or delta.
struct Problem {
  // The bytes are something else, or have a format version that this build does not support.
  static Problem foreign(std::string text) { return {true, std::move(text)}; }
  // The bytes are a filter or delta, but corrupt.
  static Problem damaged(std::string text) { return {false, std::move(text)}; }

  bool is_foreign;
  std::string text;  // for example "bad magic"
};

// Reads and checks a header as write_header() writes it, at the start of `stored`.
std::variant<Header, Problem> read_header(ByteView stored);

struct FilterHeader {
  Header header;
  // As stored, not verified; nullopt in filters of format version 1.
  std::optional<std::uint64_t> cell_checksum;
};
// Reads and checks the header of a stored filter, of either version, in constant time. Also checks
// that `stored` has the size that the header implies, and that no bit after the last cell is set.
std::variant<FilterHeader, Problem> read_filter_header(ByteView stored);

// Returns whether `stored` starts with a header that differs from `known` in the checksums alone,
// and matches its own checksum. Then both have the same Header. Cheaper than reading the header.
// Requires: `known` is a valid header.
bool has_same_header(ByteView stored, const HeaderBytes& known);

// Returns the mask of the padding in the last byte of the cells: the bits after the last cell. They
// must all be 0.
std::uint8_t padding_mask(const Shape& shape);

}  // namespace bloom
