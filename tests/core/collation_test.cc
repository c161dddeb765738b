#include "core/hashing/collation.h"

#include <gtest/gtest.h>

#include <string>

#include "core/hashing/key.h"
#include "core/layout/shape.h"

namespace bloom::test {
namespace {

std::string form(const std::string& key, Collation collation) {
  CountedString buffer;
  return std::string(normalized(key, collation, buffer));
}

TEST(Collation, EqualKeysHaveOneForm) {
  EXPECT_EQ(form(" A b\xc3\x84Z[@ ", Collation::binary), " A b\xc3\x84Z[@ ");
  EXPECT_EQ(form(" A b\xc3\x84Z[@ ", Collation::nocase), " a b\xc3\x84z[@ ");
  EXPECT_EQ(form(" A b\t  ", Collation::rtrim), " A b\t");
  EXPECT_EQ(form("   ", Collation::rtrim), "");
  for (const Collation collation : kCollations) {
    EXPECT_EQ(form("", collation), "");
  }
}

// Returns a string of all characters of a literal that contains NULs.
template <std::size_t n>
std::string all_of(const char (&literal)[n]) {
  return {literal, n - 1};
}

TEST(Collation, NocaseComparesTheKeyUpToItsFirstNulAndTheLength) {
  EXPECT_EQ(form(all_of("Ab\0Cd"), Collation::nocase), form(all_of("aB\0xy"), Collation::nocase));
  EXPECT_NE(form(all_of("Ab\0Cd"), Collation::nocase), form(all_of("ab\0c"), Collation::nocase));
  EXPECT_NE(form(all_of("Ab\0Cd"), Collation::rtrim), form(all_of("Ab\0xy"), Collation::rtrim));
}

TEST(Collation, NamesAreReadInEitherCase) {
  for (const Collation collation : kCollations) {
    EXPECT_EQ(collation_named(name_of(collation)), collation);
  }
  EXPECT_EQ(collation_named("NoCase"), Collation::nocase);
  EXPECT_EQ(collation_named("nocas"), std::nullopt);
  EXPECT_EQ(collation_named("nocase2"), std::nullopt);
  EXPECT_EQ(collation_named(""), std::nullopt);
}

TEST(Collation, DecidesTheHash) {
  EXPECT_EQ(hash_key("A ", Collation::binary, 3), hash_key("A ", 3));
  EXPECT_EQ(hash_key("A ", Collation::nocase, 3), hash_key("a ", 3));
  EXPECT_EQ(hash_key("A ", Collation::rtrim, 3), hash_key("A", 3));
}

}  // namespace
}  // namespace bloom::test
