#include "tests/fuzz/input.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <variant>

#include "core/layout/format.h"
#include "tests/support/stored.h"

namespace bloom::fuzz {

void fail(std::string_view what) {
  std::fprintf(stderr, "BROKEN: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

std::uint64_t Input::word() {
  std::uint64_t word = 0;
  for (const std::uint8_t byte : take(sizeof word)) {
    word = word << 8 | byte;
  }
  return word;
}

std::span<const std::uint8_t> Input::take(std::size_t size) {
  const auto taken = bytes_.first(std::min(size, bytes_.size()));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

// docs/format.md: bytes 56 to 63 are h1 of those before.
void repair_header_checksum(std::span<std::uint8_t> header) {
  if (header.size() >= kHeaderBytes) {
    test::repair_header_checksum(header.data());
  }
}

void repair_checksums(std::span<std::uint8_t> filter) {
  if (filter.size() >= kHeaderBytes) {
    test::repair_checksums(filter);
  }
}

// The header alone is that of version 1.
void repair_length(std::vector<std::uint8_t>& filter, std::size_t most) {
  if (filter.size() < kHeaderBytes) {
    return;
  }
  const auto parsed =
      read_header(test::as_version_1({filter.begin(), filter.begin() + kHeaderBytes}));
  const auto* header = std::get_if<Header>(&parsed);
  if (header != nullptr && stored_bytes(header->shape) <= most) {
    filter.resize(static_cast<std::size_t>(stored_bytes(header->shape)));
    filter.back() &= static_cast<std::uint8_t>(~padding_mask(header->shape));
  }
}

}  // namespace bloom::fuzz
