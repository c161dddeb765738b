// Passes numbers to keys and formulas. Equal numbers must have the same key. A formula must soon
// return a result within its range, or an error.
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "core/hashing/key.h"
#include "core/sizing/formulas.h"
#include "core/sizing/growth.h"
#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {
namespace {

// Those that count, of a number as text.
std::string significant_digits(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) {
      digits += c;
    }
  }
  return digits.substr(0, digits.find_last_not_of('0') + 1);
}

std::string shortest(double value) {
  std::array<char, 64> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  require(error == std::errc(), "a number is too long");
  return significant_digits({text.data(), static_cast<std::size_t>(end - text.data())});
}

void check_key(double value) {
  if (std::isnan(value)) {
    return;
  }
  const NumberText text(value);
  if (std::isinf(value)) {
    require(text.view() == (value > 0 ? "Inf" : "-Inf"), "an infinity has another name");
    return;
  }
  double back = 0;
  const auto [end, error] =
      std::from_chars(text.view().data(), text.view().data() + text.view().size(), back);
  require(error == std::errc() && end == text.view().data() + text.view().size(),
          "the text of a number is none");
  require(back == value, "the text of a number is that of another");
  if (value != std::trunc(value)) {
    require(significant_digits(text.view()) == shortest(value), "not the fewest digits");
    return;
  }
  require(text.view().find_first_not_of("-0123456789") == std::string_view::npos,
          "an integral value is not written as an integer");
  if (std::abs(value) < 0x1p63) {
    const NumberText integer(static_cast<std::int64_t>(value));
    require(integer.view() == text.view(), "an integer and its real are two keys");
  }
}

void check_key(std::int64_t value) {
  require(NumberText(value).view() == std::to_string(value), "an integer has another text");
}

void check_formulas(std::uint64_t n, std::uint64_t m, std::uint32_t k, double p) {
  require(bits_for(n, p) >= 1, "no bits");
  require(hashes_for(m, n) >= 1 && hashes_for(m, n) <= kMaxHashes, "hashes out of range");
  const double fpr = fpr_for(m, n, k);
  require(fpr >= 0 && fpr <= 1, "FPR out of range");
  const std::uint64_t capacity = capacity_for(m, k, p);
  require(capacity == 0 || fpr_for(m, capacity, k) <= p, "capacity is too high");
  require(capacity >= kMaxKeys || fpr_for(m, capacity + 1, k) > p, "capacity is too low");
}

void check_header(const Header& header, std::uint64_t n, double p) {
  require(!broken_rule(header.shape), "a header of no shape");
  require(header.capacity >= n && header.fpr == p, "a header for something else");
  const double fpr = predicted_fpr(header.shape, n);
  require(fpr >= 0 && fpr <= p * 1.000001, "the FPR is above what was asked for");
}

// Calls f, which may refuse its arguments.
template <typename F>
void try_to(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    require(error.what() != std::string_view(), "an error without a message");
  }
}

void run(Input input) {
  const std::uint64_t bits = input.word();
  check_key(std::bit_cast<double>(bits));
  check_key(static_cast<double>(static_cast<std::int64_t>(bits)) / (1 + input.byte()));
  check_key(static_cast<std::int64_t>(bits));

  const std::uint64_t n = bits >> (bits % 64);
  const auto k = static_cast<std::uint32_t>(input.byte());
  const double p = std::ldexp(static_cast<double>(input.byte()) / 256, -static_cast<int>(k % 64));
  const Kind kind = kKinds[input.below(3)];
  const unsigned shift = input.byte();
  const std::uint64_t m = input.word() >> (shift % 64);
  const std::uint64_t block = input.byte() % 4 == 0 ? 0 : std::uint64_t{1} << (shift % 16);
  try_to([&] { check_formulas(n, m, k, p); });
  try_to([&] {
    check_header(shift < 128 ? size_filter(n, p, kind) : size_filter(n, p, kind, block), n, p);
  });
}

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bloom::fuzz::run({bytes, size});
  return 0;
}
