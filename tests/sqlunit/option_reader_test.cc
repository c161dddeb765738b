#include "sql/vtab/option_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

struct Settings {
  std::uint64_t count = 0;
  std::string name;
  std::vector<std::string> columns;
  bool fast = false;
  Collation collation = Collation::binary;

  bool operator==(const Settings&) const = default;
};

constexpr OptionReader<Settings> kReaders[] = {
    {"count", [](Settings& s, const OptionArgument& o) { s.count = o.integer(1, 1000); }},
    {"name", [](Settings& s, const OptionArgument& o) { s.name = o.word(); }},
    {"column", [](Settings& s, const OptionArgument& o) { s.columns = o.words(); }},
    {"fast", [](Settings& s, const OptionArgument& o) { s.fast = o.on_or_off(); }},
    {"collation", [](Settings& s, const OptionArgument& o) { s.collation = o.collation(); }},
};

Settings read(const std::vector<const char*>& arguments) {
  Settings settings;
  read_options<Settings>(connection(), arguments, kReaders, settings);
  return settings;
}

std::string refusal_of(const std::vector<const char*>& arguments) {
  return error_of([&] { read(arguments); });
}

TEST(OptionReader, ReadsEachOptionInAnyOrderAndCase) {
  const Settings expected{.count = 10,
                          .name = "a b",
                          .columns = {"x", "y, z"},
                          .fast = true,
                          .collation = Collation::nocase};
  EXPECT_EQ(read({"count=10", "name='a b'", "column=(x, \"y, z\")", "fast=on", "collation=NOCASE"}),
            expected);
  EXPECT_EQ(read({" COLLATION = nocase ", "Fast='ON'", "column = (x,\"y, z\")", "name=\"a b\"",
                  "count = 1e1"}),
            expected);
}

TEST(OptionReader, TakesNoOptions) {
  EXPECT_EQ(read({}), Settings{});
  EXPECT_EQ(read({""}), Settings{});
  EXPECT_EQ(read({" \n\t"}), Settings{});
  EXPECT_NE(refusal_of({"count=1", ""}), "");
}

TEST(OptionReader, ANumberMayBeQuotedWhereANumberIsWanted) {
  EXPECT_EQ(read({"count='7'"}).count, 7U);
  EXPECT_EQ(read({"name='7'"}).name, "7");
  EXPECT_EQ(refusal_of({"name=7"}), "name must be a name, got 7");
}

TEST(OptionReader, RefusesValuesThatBreakTheRule) {
  EXPECT_EQ(refusal_of({"count=0"}), "count must be an integer between 1 and 1000, got 0");
  EXPECT_EQ(refusal_of({"count=1.5"}), "count must be an integer between 1 and 1000, got 1.5");
  EXPECT_EQ(refusal_of({"count=many"}), "count must be an integer between 1 and 1000, got 'many'");
  EXPECT_EQ(refusal_of({"name=''"}), "name must be a name, got ''");
  EXPECT_EQ(refusal_of({"fast=yes"}), "fast must be on or off, got 'yes'");
  EXPECT_EQ(refusal_of({"column=(a,)"}),
            "column must be a name, or names in brackets: (a, b), got '(a,)'");
}

TEST(OptionReader, RefusesOptionsThatAreUnknownRepeatedOrJoined) {
  EXPECT_EQ(refusal_of({"size=1"}),
            "unknown option 'size' (the options are count, name, column, fast and collation)");
  EXPECT_EQ(refusal_of({"count=1", "COUNT=2"}), "option count is given twice");
  EXPECT_EQ(refusal_of({"count"}),
            "an option must be name=value, as capacity=1000000, got 'count'");
  EXPECT_EQ(refusal_of({"count=1 fast=on"}),
            "a comma is missing between two options: 'count=1 fast=on' (write count=1, fast=on)");
  EXPECT_EQ(read({"name='a fast=on'"}).name, "a fast=on");
}

}  // namespace
}  // namespace bloom::test
