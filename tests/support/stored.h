// The stored form of a filter, and the checksums in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/filter/filter.h"
#include "core/hashing/hash.h"
#include "core/layout/checksum.h"
#include "core/layout/format.h"
#include "core/support/bytes.h"

namespace bloom::test {

inline std::vector<std::uint8_t> bytes_of(const Filter& filter) {
  Filter copy(filter.view());
  const ByteView stored = copy.stored();
  return {stored.begin(), stored.end()};
}

// Writes the checksum of a header into its last bytes.
inline void repair_header_checksum(std::uint8_t* header) {
  store_le(header + 56, hash_key({reinterpret_cast<const char*>(header), 56}, 0).h1);
}

// Writes both checksums of a stored filter: of its header, and in version 2 of its cells. Requires:
// `stored` has at least a header.
inline void repair_checksums(std::span<std::uint8_t> stored) {
  if (stored[4] == 2) {
    const auto cells = stored.subspan(kHeaderBytes);
    store_le(&stored[48], checksum_of_cells(cells.data(), cells.size()));
  }
  repair_header_checksum(stored.data());
}

// Returns a stored filter in version 1 of the format.
inline std::vector<std::uint8_t> as_version_1(std::vector<std::uint8_t> stored) {
  stored[4] = 1;
  store_le(&stored[48], std::uint64_t{0});
  repair_header_checksum(stored.data());
  return stored;
}

}  // namespace bloom::test
