#include "core/hashing/key.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "core/hashing/composite_key.h"
#include "tests/support/keys.h"

namespace bloom {
namespace {

std::string text(double value) { return std::string(NumberText(value).view()); }
std::string text(std::int64_t value) { return std::string(NumberText(value).view()); }

// Returns C++'s own shortest conversion of the number, in the layout of %g.
std::string shortest(double value) {
  char buffer[400];
  const double size = std::abs(value);
  const auto format = size < 1e-4 ? std::chars_format::scientific : std::chars_format::fixed;
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr};
}

TEST(Key, IntegersAreDecimalText) {
  EXPECT_EQ(text(std::int64_t{0}), "0");
  EXPECT_EQ(text(std::int64_t{-42}), "-42");
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

TEST(Key, RealsWithAnIntegralValueAreThatInteger) {
  EXPECT_EQ(text(42.0), "42");
  EXPECT_EQ(text(-0.0), "0");
  EXPECT_EQ(text(1e15), "1000000000000000");
  EXPECT_EQ(text(-9223372036854775808.0), "-9223372036854775808");
  EXPECT_EQ(text(9223372036854775808.0), "9223372036854775808");
  EXPECT_EQ(text(1e23), "99999999999999991611392");
  EXPECT_EQ(text(std::numeric_limits<double>::max()).size(), 309U);
  EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "Inf");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Inf");
}

TEST(Key, RealsThatAreIntegersAgreeWithThem) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto value = static_cast<std::int64_t>(test::splitmix64(i)) >> (11 + i % 50);
    ASSERT_EQ(text(static_cast<double>(value)), text(value));
  }
}

TEST(Key, OtherRealsAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-2.5), "-2.5");
  EXPECT_EQ(text(0.0001), "0.0001");
  EXPECT_EQ(text(0.00001), "1e-05");
  EXPECT_EQ(text(5e-324), "5e-324");
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const auto value = std::bit_cast<double>(test::splitmix64(i));
    if (std::isfinite(value) && value != std::trunc(value)) {
      ASSERT_EQ(text(value), shortest(value));
    }
  }
}

TEST(Key, PowersOfTwoAreTheShortestTextToo) {
  for (int exponent = -1; exponent >= -1074; --exponent) {
    ASSERT_EQ(text(std::ldexp(1.0, exponent)), shortest(std::ldexp(1.0, exponent)));
  }
}

TEST(Key, DecimalsOfAFewDigitsStayAsWritten) {
  for (int i = 1; i < 100'000; i += 7) {
    char written[32];
    std::snprintf(written, sizeof written, "%d.%d", i, 1 + i % 9);
    ASSERT_EQ(text(std::strtod(written, nullptr)), written);
  }
}

TEST(Key, TheLocaleOfTheHostDoesNotMatter) {
  const char* german = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    german = german != nullptr ? german : std::setlocale(LC_ALL, name);
  }
  if (german == nullptr) {
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  }
  EXPECT_EQ(text(0.5), "0.5");
  EXPECT_EQ(text(1e-7), "1e-07");
  std::setlocale(LC_ALL, "C");
}

TEST(Key, TextsThatAreOtherFormsOfNumbersAreDetected) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"05"sv, "5.0"sv, " 5"sv, "5 "sv, "\t5\r\n"sv, "+5"sv, "-0"sv, "-05"sv, "5."sv, ".5"sv,
        "5e0"sv, "5E+1"sv, "-5e-1"sv, "9223372036854775808"sv, "5\0"sv, "5\0x"sv}) {
    EXPECT_TRUE(is_noncanonical_number(text)) << text;
  }
  for (const std::string_view text : {"5"sv,
                                      "0"sv,
                                      "-5"sv,
                                      "9223372036854775807"sv,
                                      "-9223372036854775808"sv,
                                      ""sv,
                                      " "sv,
                                      "."sv,
                                      "+"sv,
                                      "-"sv,
                                      "e5"sv,
                                      ".e5"sv,
                                      "five"sv,
                                      "5 5"sv,
                                      "5x"sv,
                                      "x5"sv,
                                      "0x5"sv,
                                      "1.2.3"sv,
                                      "2024-01-01"sv,
                                      "--5"sv,
                                      "Inf"sv,
                                      "5,0"sv,
                                      "\0005"sv}) {
    EXPECT_FALSE(is_noncanonical_number(text)) << text;
  }
}

std::string composite(std::initializer_list<std::string_view> parts) {
  CountedString key;
  for (const auto part : parts) {
    append_part(key, part);
  }
  return std::string(key);
}

TEST(Key, PartsOfACompositeKeyAreNetstrings) {
  EXPECT_EQ(composite({"ab", "c"}), "2:ab,1:c,");
  EXPECT_EQ(composite({""}), "0:,");
}

TEST(Key, PartsAreCountedOnlyInKeysMadeOfParts) {
  EXPECT_EQ(count_parts(composite({""})), 1U);
  EXPECT_EQ(count_parts(composite({"1:a,", ",", "ten bytes."})), 3U);
  for (const std::string_view other :
       {"", "a", "1", "1:", "1:a", "1:a,1", "1:a;", "2:a,", "01:a,", "+1:a,", "-1:a,", " 1:a,",
        ":a,", "1a,", "18446744073709551615:a,", "99999999999999999999:a,"}) {
    EXPECT_EQ(count_parts(other), 0U) << other;
  }
}

TEST(Key, PartsAreTakenFromTheFront) {
  std::string_view rest = "2:ab,0:,";
  EXPECT_EQ(take_part(rest), "ab");
  EXPECT_EQ(take_part(rest), "");
  EXPECT_EQ(take_part(rest), std::nullopt);
  rest = "1:a;";
  EXPECT_EQ(take_part(rest), std::nullopt);
  EXPECT_EQ(rest, "1:a;");
}

TEST(Key, EachPartOfACompositeKeyHasItsCollation) {
  const PartCollations folding = {Collation::binary, Collation::nocase, Collation::rtrim};
  const auto hash = [&](std::initializer_list<std::string_view> parts) {
    return hash_composite(composite(parts), folding, 7);
  };
  EXPECT_EQ(hash({"a", "b", "c"}), hash_key(composite({"a", "b", "c"}), 7));
  EXPECT_EQ(hash({"a", "B", "c  "}), hash({"a", "b", "c"}));
  EXPECT_FALSE(hash({"A", "b", "c"}) == hash({"a", "b", "c"}));
  EXPECT_FALSE(hash({"a ", "b", "c"}) == hash({"a", "b", "c"}));
  EXPECT_FALSE(hash({"a", "b ", "c"}) == hash({"a", "b", "c"}));
  EXPECT_EQ(hash({"a", "b", "c", "D"}), hash_key(composite({"a", "b", "c", "D"}), 7));
  EXPECT_EQ(hash_composite("not of parts ", folding, 7), hash_key("not of parts ", 7));
}

TEST(Key, CollationsOfPartsHaveNames) {
  const PartCollations all = {Collation::rtrim, Collation::binary, Collation::nocase};
  EXPECT_EQ(names_of(all), "rtrim binary nocase");
  EXPECT_EQ(part_collations_named("rtrim binary nocase"), all);
  EXPECT_EQ(part_collations_named(""), PartCollations());
  for (const std::string_view other : {"german", " binary", "binary  binary", "binary,nocase"}) {
    EXPECT_EQ(part_collations_named(other), std::nullopt) << other;
  }
  EXPECT_TRUE(same_collations({}, {Collation::binary}));
  EXPECT_FALSE(same_collations({Collation::binary, Collation::nocase}, {Collation::binary}));
}

TEST(Key, CompositeKeysOfDifferentPartsDiffer) {
  const std::string_view pieces[] = {"", "a", "1:a,", ",", "0:,", ":", "aa", "1"};
  std::set<std::string> seen;
  std::size_t made = 0;
  for (const auto a : pieces) {
    made += seen.insert(composite({a})).second ? 1 : 0;
    for (const auto b : pieces) {
      made += seen.insert(composite({a, b})).second ? 1 : 0;
      for (const auto c : pieces) {
        made += seen.insert(composite({a, b, c})).second ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(made, 8U + 64U + 512U);
}

}  // namespace
}  // namespace bloom
