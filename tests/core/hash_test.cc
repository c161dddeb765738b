#include "core/hashing/hash.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bloom {
namespace {

struct Vector {
  std::uint32_t seed;
  std::size_t length;
  std::string hex;
};

std::vector<Vector> vectors() {
  std::ifstream file(BLOOM_TEST_DATA "/murmur3_x64_128.txt");
  std::vector<Vector> all;
  for (std::string line; std::getline(file, line);) {
    Vector v;
    if (line[0] != '#' && std::istringstream(line) >> v.seed >> v.length >> v.hex) {
      all.push_back(v);
    }
  }
  return all;
}

std::string in_hex(Hash hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.h1),
                static_cast<unsigned long long>(hash.h2));
  return text;
}

// Misaligned as well: keys lie anywhere.
std::string key_of(std::size_t length, std::size_t offset) {
  std::string bytes(offset, 'x');
  for (std::size_t i = 0; i < length; ++i) {
    bytes.push_back(static_cast<char>((131 * i + 7) % 256));
  }
  return bytes;
}

TEST(Hash, AgreesWithAnotherImplementation) {
  const auto all = vectors();
  ASSERT_GT(all.size(), 300U);
  for (const auto& v : all) {
    for (const std::size_t offset : {0U, 1U, 3U}) {
      const std::string key = key_of(v.length, offset);
      const std::string_view view = std::string_view(key).substr(offset);
      EXPECT_EQ(in_hex(hash_key(view, v.seed)), v.hex);
    }
  }
}

TEST(Hash, OfHelloIsTheWellKnownOne) {
  EXPECT_EQ(in_hex(hash_key("hello", 0)), "cbd8a7b341bd9b025b1e906a48ae1d19");
}

}  // namespace
}  // namespace bloom
