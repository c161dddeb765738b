#include "sql/values/arguments.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{1} << 40;

std::uint64_t integer(const std::string& expression) {
  return integer_argument(Value(value_of(expression).get()), "n", 1, kLarge);
}

std::string refusal_of_integer(const std::string& expression) {
  return error_of([&] { integer(expression); });
}

TEST(Arguments, AnIntegerMayBeAnIntegralReal) {
  EXPECT_EQ(integer("1"), 1U);
  EXPECT_EQ(integer("1e6"), 1'000'000U);
  EXPECT_EQ(integer("1099511627776"), kLarge);
  EXPECT_EQ(integer("1099511627776.0"), kLarge);
}

TEST(Arguments, OtherValuesAreNoInteger) {
  const std::string rule = "n must be an integer between 1 and 1099511627776, got ";
  for (const std::string value : {"0", "-1", "1099511627777", "9223372036854775807",
                                  "-9223372036854775808", "1.5", "NULL", "'1'"}) {
    EXPECT_EQ(refusal_of_integer(value), rule + value);
  }
  EXPECT_EQ(refusal_of_integer("x'3132'"), rule + "a blob of 2 bytes");
  EXPECT_NE(refusal_of_integer("1e300"), "");
  EXPECT_NE(refusal_of_integer("-1e300"), "");
  EXPECT_NE(refusal_of_integer("9e999"), "");
}

TEST(Arguments, AnFprIsBetween0And1) {
  const auto fpr = [](const std::string& expression) {
    return fpr_argument(Value(value_of(expression).get()), "fpr");
  };
  EXPECT_EQ(fpr("0.01"), 0.01);
  EXPECT_EQ(fpr("1e-300"), 1e-300);
  for (const std::string value : {"0", "0.0", "1", "1.0", "-0.5", "NULL", "'0.5'"}) {
    EXPECT_EQ(error_of([&] { fpr(value); }), "fpr must be a number between 0 and 1, got " + value);
  }
}

TEST(Arguments, AKindIsNamedInAnyCase) {
  const auto kind = [](const std::string& expression) {
    return kind_argument(Value(value_of(expression).get()));
  };
  EXPECT_EQ(kind("'standard'"), Kind::standard);
  EXPECT_EQ(kind("'Counting'"), Kind::counting);
  EXPECT_EQ(kind("'PARTITIONED'"), Kind::partitioned);
  for (const std::string value : {"'blocked'", "''", "1", "NULL"}) {
    EXPECT_EQ(error_of([&] { kind(value); }),
              "kind must be 'standard', 'counting' or 'partitioned', got " + value);
  }
}

TEST(Arguments, ErrorsCountArgumentsFrom1AndNameTheUsage) {
  EXPECT_EQ(argument_name(0), "argument 1");
  const auto value = value_of("1");
  std::vector<sqlite3_value*> raw(2, value.get());
  const Values two(2, raw.data());
  EXPECT_NO_THROW(require_at_least(2, two, "f(a, b)"));
  EXPECT_EQ(error_of([&] { require_at_least(3, two, "f(a, b, c)"); }),
            "the call must be f(a, b, c), got 2 arguments");
  EXPECT_EQ(error_of([&] { require_at_least(2, Values(1, raw.data()), "f(a, b)"); }),
            "the call must be f(a, b), got 1 argument");
}

TEST(Arguments, AFilterMustBeAWholeUndamagedBlob) {
  const auto capacity = [](const std::string& expression) {
    return filter_argument(Value(value_of(expression).get()), "f").header().capacity;
  };
  const std::string filter = "bloom_create(1000, 0.01)";
  EXPECT_EQ(capacity(filter), 1000U);
  const auto error = [&](const std::string& expression) {
    return error_of([&] { capacity(expression); });
  };
  EXPECT_TRUE(error("NULL").starts_with("f is not a bloom filter (NULL"));
  EXPECT_TRUE(error("7").starts_with("f is not a bloom filter (7"));
  EXPECT_TRUE(error("x'00'").starts_with("f is not a bloom filter ("));
  EXPECT_TRUE(error("CAST(substr(" + filter + ", 1, 100) AS BLOB)")
                  .starts_with("f is a damaged bloom filter ("));
}

TEST(Arguments, OnlyLookupsSkipTheChecksumOfTheCells) {
  const auto stored = value_of("bloom_create(1000, 0.01)");
  const auto bytes = Value(stored.get()).blob();
  std::string damaged(bytes.begin(), bytes.end());
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const sqlite::Statement select(connection(), "SELECT ?1");
  sqlite::Execution run(select);
  run.bind(1, std::span(reinterpret_cast<const std::uint8_t*>(damaged.data()), damaged.size()))
      .step();
  const auto value = run.value(0).copy();
  sqlite3_value* raw[] = {value.get()};
  const Values arguments(1, raw);
  EXPECT_NO_THROW(unverified_filter_argument(arguments, 0));
  EXPECT_TRUE(error_of([&] {
                filter_argument(arguments, 0);
              }).starts_with("argument 1 is a damaged bloom filter (cell checksum"));
}

TEST(Arguments, AggregatesSkipNullAndRefuseOtherValues) {
  const auto null = value_of("NULL");
  const auto number = value_of("7");
  sqlite3_value* raw[] = {null.get(), number.get()};
  const Values arguments(2, raw);
  EXPECT_FALSE(aggregate_filter_argument(arguments, 0, {}));
  EXPECT_TRUE(error_of([&] {
                aggregate_filter_argument(arguments, 1, {});
              }).starts_with("argument 2 is not a bloom filter (7"));
}

}  // namespace
}  // namespace bloom::test
