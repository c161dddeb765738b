// Reads the bytes from libFuzzer as choices, and ends the process if a check fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bloom::fuzz {

// Prints what is wrong and ends the process: libFuzzer then keeps the input.
[[noreturn]] void fail(std::string_view what);

inline void require(bool holds, std::string_view what) {
  if (!holds) {
    fail(what);
  }
}

// Returns zeros after the last byte.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes, size) {}

  bool at_end() const { return bytes_.empty(); }
  std::uint8_t byte() {
    const std::uint8_t first = at_end() ? 0 : bytes_.front();
    bytes_ = bytes_.subspan(at_end() ? 0 : 1);
    return first;
  }
  // One of 0..n-1, from one byte.
  unsigned below(unsigned n) { return byte() % n; }
  bool flag() { return below(2) != 0; }
  std::uint64_t word();

  std::span<const std::uint8_t> take(std::size_t size);
  std::span<const std::uint8_t> rest() { return take(bytes_.size()); }

 private:
  std::span<const std::uint8_t> bytes_;
};

// Repairs the checksum of a header. Changes nothing if there are fewer bytes than a header has.
void repair_header_checksum(std::span<std::uint8_t> header);

// Repairs the checksums of the cells and of the header of a filter.
void repair_checksums(std::span<std::uint8_t> filter);

// Gives a filter the length that its header implies, and clears the bits after the last cell.
// Changes nothing if the header is not valid, or the length is greater than `most`.
void repair_length(std::vector<std::uint8_t>& filter, std::size_t most);

}  // namespace bloom::fuzz
