#include "sql/vtab/columns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bloom::test {
namespace {

enum class Column { key, size, info, command };

struct Cursor {
  std::vector<std::string> computed;
};
using Hidden = HiddenColumn<Column, Cursor>;

constexpr Hidden kColumns[] = {
    {Column::size, "size", "INTEGER",
     [](Cursor& c, sqlite::Context&) { c.computed.emplace_back("size"); }},
    {Column::info, "info", "TEXT",
     [](Cursor& c, sqlite::Context&) { c.computed.emplace_back("info"); }},
};
constexpr Hidden kSwapped[] = {kColumns[1], kColumns[0]};
constexpr Hidden kTooFew[] = {kColumns[0]};
constexpr Hidden kTooMany[] = {kColumns[0], kColumns[1], {Column::command, "c", "", nullptr}};
constexpr Hidden kTwice[] = {kColumns[0], kColumns[0]};

TEST(Columns, TheListMustBeTheColumnsOfTheEnum) {
  EXPECT_TRUE(lists_all_in_order(kColumns, Column::size, Column::command));
  EXPECT_FALSE(lists_all_in_order(kSwapped, Column::size, Column::command));
  EXPECT_FALSE(lists_all_in_order(kTooFew, Column::size, Column::command));
  EXPECT_FALSE(lists_all_in_order(kTooMany, Column::size, Column::command));
  EXPECT_FALSE(lists_all_in_order(kTwice, Column::size, Column::command));
  EXPECT_FALSE(lists_all_in_order(kColumns, Column::key, Column::command));
}

TEST(Columns, AreDeclaredInOrder) {
  EXPECT_EQ(declare<Hidden>(kColumns), ", size INTEGER HIDDEN, info TEXT HIDDEN");
}

TEST(Columns, AreFoundByNameInAnyCase) {
  EXPECT_EQ(find_column<Hidden>(kColumns, "INFO"), &kColumns[1]);
  EXPECT_EQ(find_column<Hidden>(kColumns, "inf"), nullptr);
  EXPECT_EQ(find_column<Hidden>(kColumns, "information"), nullptr);
  EXPECT_EQ(find_column<Hidden>(kColumns, ""), nullptr);
}

TEST(Columns, ComputeTheirOwnValue) {
  Cursor cursor;
  sqlite::Context context(nullptr);
  const auto compute = [&](Column column) {
    return set_result<Hidden>(kColumns, static_cast<int>(column), cursor, context);
  };
  EXPECT_TRUE(compute(Column::info));
  EXPECT_TRUE(compute(Column::size));
  EXPECT_FALSE(compute(Column::key));
  EXPECT_FALSE(compute(Column::command));
  EXPECT_EQ(cursor.computed, (std::vector<std::string>{"info", "size"}));
}

}  // namespace
}  // namespace bloom::test
