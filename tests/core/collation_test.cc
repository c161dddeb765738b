#include "core/collation.h"

#include <gtest/gtest.h>

#include <string>

#include "core/key.h"

namespace bloom::test {
namespace {

using std::string_literals::operator""s;

std::string form(const std::string& key, Collation collation) {
  std::string buffer;
  return std::string(collated(key, collation, buffer));
}

TEST(Collation, OfAKeyAllEqualsHaveOneForm) {
  EXPECT_EQ(form(" A b\xc3\x84Z[@ ", Collation::binary), " A b\xc3\x84Z[@ ");
  EXPECT_EQ(form(" A b\xc3\x84Z[@ ", Collation::nocase), " a b\xc3\x84z[@ ");
  EXPECT_EQ(form(" A b\t  ", Collation::rtrim), " A b\t");
  EXPECT_EQ(form("   ", Collation::rtrim), "");
  for (const Collation collation : kCollations) {
    EXPECT_EQ(form("", collation), "");
  }
}

TEST(Collation, NocaseLooksNoFurtherThanTheFirstNulAndTheLength) {
  EXPECT_EQ(form("Ab\0Cd"s, Collation::nocase), form("aB\0xy"s, Collation::nocase));
  EXPECT_NE(form("Ab\0Cd"s, Collation::nocase), form("ab\0c"s, Collation::nocase));
  EXPECT_NE(form("Ab\0Cd"s, Collation::rtrim), form("Ab\0xy"s, Collation::rtrim));
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
  Shape shape{.kind = Kind::standard, .hashes = 1, .cells = 8, .block = 0, .seed = 3};
  EXPECT_EQ(hash_of("A ", shape), hash_key("A ", 3));
  shape.collation = Collation::nocase;
  EXPECT_EQ(hash_of("A ", shape), hash_key("a ", 3));
  shape.collation = Collation::rtrim;
  EXPECT_EQ(hash_of("A ", shape), hash_key("A", 3));
}

}  // namespace
}  // namespace bloom::test
