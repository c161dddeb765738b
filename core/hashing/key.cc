#include "core/hashing/key.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace bloom {
namespace {

bool reads_back(const char* text, double value) { return std::strtod(text, nullptr) == value; }

// Raises the last digit before the exponent by one; a 9 is left alone.
void bump_last_digit(char* text) {
  char* last = text;
  for (char* c = text; *c != '\0' && *c != 'e'; ++c) {
    last = c;
  }
  if (*last != '9') {
    ++*last;
  }
}

// printf and strtod share the locale, so the search above them does not care; the text must.
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

NumberText::NumberText(std::int64_t value) { write_integer(value); }

NumberText::NumberText(double value) {
  // Every double from 2^53 on is integral, and -2^63 to 2^63 fits an integer.
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

// std::to_chars would do, but its symbols are newer than the oldest systems this is to load on.
void NumberText::write_shortest(double value) {
  char* text = text_.data();
  const bool subnormal = std::abs(value) < std::numeric_limits<double>::min();
  // Up to 15 digits survive any normal double, so 15 finds every shorter text as well.
  for (int digits = subnormal ? 1 : 15; digits <= 17; ++digits) {
    std::snprintf(text, text_.size(), "%.*g", digits, value);
    if (reads_back(text, value)) {
      break;
    }
    if (digits == 16) {
      // Below a power of two doubles lie closer than above it: the nearest text of 16 digits can
      // miss where the next one up reads back. (# keeps a last digit of 0.)
      std::snprintf(text, text_.size(), "%#.16g", value);
      bump_last_digit(text);
      if (reads_back(text, value)) {
        break;
      }
    }
  }
  size_ = make_point_a_dot(text);
}

Hash hash_collated(std::string_view key, Collation collation, std::uint32_t seed) {
  std::string buffer;
  return hash_key(collated(key, collation, buffer), seed);
}

void append_part(std::string& key, std::string_view part) {
  key.append(NumberText(static_cast<std::int64_t>(part.size())).view());
  key.append(1, ':').append(part).append(1, ',');
}

}  // namespace bloom
