#include "core/hashing/key.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace bloom {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t first = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// Removes a sign from the front of `text`, if it begins with one.
void skip_sign(std::string_view& text) {
  text.remove_prefix(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
}

// Removes the digits from the front of `text`. Returns how many there are.
std::size_t skip_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

// Returns whether SQLite reads all of `text` as a number: an optional sign, digits
// with an optional point, an exponent, spaces around. Some versions read up to a NUL character.
bool is_number(std::string_view text) {
  // A shortcut: no digit, sign, point or space is above '9' in ASCII, and most keys begin with a
  // letter.
  if (text.empty() || static_cast<unsigned char>(text.front()) > '9') {
    return false;
  }
  text = without_spaces(text.substr(0, text.find('\0')));
  skip_sign(text);
  std::size_t digits = skip_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += skip_digits(text);
  }
  if (digits != 0 && (text.starts_with('e') || text.starts_with('E'))) {
    text.remove_prefix(1);
    skip_sign(text);
    skip_digits(text);
  }
  return digits != 0 && text.empty();
}

}  // namespace

bool is_noncanonical_number(std::string_view text) {
  return is_number(text) && !canonical_integer(text);
}

std::optional<std::int64_t> canonical_integer(std::string_view text) {
  std::int64_t integer = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), integer);
  return read.ec == std::errc() && NumberText(integer).view() == text ? std::optional(integer)
                                                                      : std::nullopt;
}

NumberText::NumberText(std::int64_t value) { write_integer(value); }

NumberText::NumberText(double value) {
  assert(!std::isnan(value));
  // All doubles of magnitude 2^53 and above are integral. Those in [-2^63, 2^63) fit std::int64_t.
  constexpr double kIntegerEnd = 9223372036854775808.0;
  if (std::isinf(value)) {
    size_ = std::string_view(value > 0 ? "Inf" : "-Inf").copy(text_.data(), 4);
  } else if (value >= -kIntegerEnd && value < kIntegerEnd &&
             value == static_cast<double>(static_cast<std::int64_t>(value))) {
    write_integer(static_cast<std::int64_t>(value));
  } else if (std::abs(value) >= kIntegerEnd) {
    write_integral(value);
  } else {
    write_shortest(value);
  }
}

void NumberText::write_integer(std::int64_t value) {
  char* begin = text_.data();
  size_ = static_cast<std::size_t>(std::to_chars(begin, begin + text_.size(), value).ptr - begin);
}

void NumberText::write_integral(double value) {
  size_ = static_cast<std::size_t>(std::snprintf(text_.data(), text_.size(), "%.0f", value));
}

#ifdef _WIN32

// The C library of Windows reads some numbers inexactly, so other digits than elsewhere would read
// back.
void NumberText::write_shortest(double value) {
  const auto format =
      std::abs(value) < 1e-4 ? std::chars_format::scientific : std::chars_format::fixed;
  char* begin = text_.data();
  size_ = static_cast<std::size_t>(std::to_chars(begin, begin + text_.size(), value, format).ptr -
                                   begin);
}

#else

namespace {

bool reads_back(const char* text, double value) { return std::strtod(text, nullptr) == value; }

// Increments the last digit before the exponent. A 9 stays unchanged.
void bump_last_digit(char* text) {
  char* last = text;
  for (char* c = text; *c != '\0' && *c != 'e'; ++c) {
    last = c;
  }
  if (*last != '9') {
    ++*last;
  }
}

// Replaces the locale's decimal point, which can have several bytes, by a dot. Returns the new
// length. snprintf and strtod use the same locale, so write_shortest() need not care; the key must
// not depend on it.
std::size_t make_point_a_dot(char* text) {
  char* out = text;
  bool in_point = false;
  for (const char* c = text; *c != '\0'; ++c) {
    const bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
    if (plain) {
      *out++ = *c;
    } else if (!in_point) {
      *out++ = '.';
    }
    in_point = !plain;
  }
  return static_cast<std::size_t>(out - text);
}

}  // namespace

// std::to_chars(double) would do this, but the oldest supported systems lack its symbols.
void NumberText::write_shortest(double value) {
  char* text = text_.data();
  const bool subnormal = std::abs(value) < std::numeric_limits<double>::min();
  // Every decimal number of up to 15 digits survives the conversion to a normal double and back. As
  // %g drops trailing zeros, the attempt with 15 digits finds every shorter text, too.
  for (int digits = subnormal ? 1 : 15; digits <= 17; ++digits) {
    std::snprintf(text, text_.size(), "%.*g", digits, value);
    if (reads_back(text, value)) {
      break;
    }
    if (digits == 16) {
      // Doubles just below a power of two are closer together than those above it. There the
      // nearest 16-digit text can fail to read back, although the next larger one does. (# keeps a
      // trailing 0.)
      std::snprintf(text, text_.size(), "%#.16g", value);
      bump_last_digit(text);
      if (reads_back(text, value)) {
        break;
      }
    }
  }
  size_ = make_point_a_dot(text);
}

#endif

Hash hash_normalized(std::string_view key, Collation collation, std::uint32_t seed) {
  CountedString buffer;
  return hash_key(normalized(key, collation, buffer), seed);
}

void append_part(CountedString& key, std::string_view part) {
  key.append(NumberText(static_cast<std::int64_t>(part.size())).view());
  key.append(1, ':').append(part).append(1, ',');
}

std::optional<std::string_view> take_part(std::string_view& key) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), size);
  const auto digits = static_cast<std::size_t>(end - key.data());
  const bool has_leading_zero = digits > 1 && key.front() == '0';
  if (error != std::errc() || has_leading_zero || digits == key.size() || key[digits] != ':') {
    return std::nullopt;
  }
  const std::string_view rest = key.substr(digits + 1);
  if (size >= rest.size() || rest[size] != ',') {
    return std::nullopt;
  }
  key = rest.substr(size + 1);
  return rest.substr(0, size);
}

std::size_t count_parts(std::string_view key) {
  std::size_t parts = 0;
  for (; !key.empty(); ++parts) {
    if (!take_part(key)) {
      return 0;
    }
  }
  return parts;
}

}  // namespace bloom
