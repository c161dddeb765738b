// The bytes that libFuzzer gives, read as choices, and the check that ends a run.
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

// Gives zeros when the bytes are used up.
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

// Puts the right checksum into a header; bytes that are too few for one stay as they are.
void repair_header_checksum(std::span<std::uint8_t> header);

// Puts the right checksums of the cells and of the header into a filter.
void repair_checksums(std::span<std::uint8_t> filter);

// Gives a filter with a header that is right the length that it says, unless that is longer than
// `most`, and no bits after the last cell.
void repair_length(std::vector<std::uint8_t>& filter, std::size_t most);

}  // namespace bloom::fuzz
