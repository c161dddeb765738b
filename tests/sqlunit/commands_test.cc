#include "sql/vtab/commands.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/sqlite/statement.h"
#include "tests/sqlunit/connection.h"

namespace bloom::test {
namespace {

struct Table {
  std::string ran;
};

constexpr Command<Table> kCommands[] = {
    {"clear", nullptr, [](Table& t, const sqlite::Value&) { t.ran = "clear"; }},
    {"integrity-check", nullptr, [](Table& t, const sqlite::Value&) { t.ran = "check"; }},
    {"fold", "fpr", [](Table& t, const sqlite::Value& fpr) { t.ran = "fold " + fpr.describe(); }},
};

// Runs the command that this SQL expression gives, with the argument 7.
std::string run(const std::string& sql) {
  const sqlite::Statement select(connection(), "SELECT " + sql + ", 7");
  sqlite::Execution row(select);
  row.step();
  Table table;
  find_command<Table>(kCommands, row.value(0)).run(table, row.value(1));
  return table.ran;
}

std::string refusal_of(const std::string& sql) {
  return error_of([&] { run(sql); });
}

TEST(Commands, AreFoundByNameInAnyCase) {
  EXPECT_EQ(run("'clear'"), "clear");
  EXPECT_EQ(run("'CLEAR'"), "clear");
  EXPECT_EQ(run("'Integrity-Check'"), "check");
}

TEST(Commands, GetTheirArgument) { EXPECT_EQ(run("'fold'"), "fold 7"); }

TEST(Commands, OthersAreRefusedWithTheListOfAll) {
  EXPECT_EQ(refusal_of("'clea'"),
            "unknown command 'clea' (the commands are 'clear', 'integrity-check' and 'fold')");
  EXPECT_NE(refusal_of("''"), "");
  EXPECT_NE(refusal_of("'clear '"), "");
  EXPECT_NE(refusal_of("x'636c656172'"), "");  // the bytes of 'clear'
  EXPECT_NE(refusal_of("1"), "");
}

TEST(Commands, AListOfOneHasNoComma) {
  constexpr Command<Table> one[] = {kCommands[0]};
  const sqlite::Statement select(connection(), "SELECT 'x'");
  sqlite::Execution row(select);
  row.step();
  EXPECT_EQ(error_of([&] { find_command<Table>(one, row.value(0)); }),
            "unknown command 'x' (the commands are 'clear')");
}

}  // namespace
}  // namespace bloom::test
