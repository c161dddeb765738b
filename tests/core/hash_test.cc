#include "core/hashing/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#ifdef BLOOM_MURMURHASH
#include <murmurhash.h>
#endif

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

// Puts the key at `offset` in the returned string, to test misaligned keys: keys can start
// anywhere.
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

#ifdef BLOOM_MURMURHASH
constexpr bool kHasLibrary = true;
Hash library_hash(std::string_view key, std::uint32_t seed) {
  std::uint64_t hash[2] = {};
  lmmh_x64_128(key.data(), static_cast<unsigned int>(key.size()), seed, hash);
  return {hash[0], hash[1]};
}
#else
constexpr bool kHasLibrary = false;
Hash library_hash(std::string_view, std::uint32_t) { return {}; }
#endif

// Compares hash_key() with the C library libmurmurhash.
class HashLibrary : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHasLibrary) {
      GTEST_SKIP() << "built without libmurmurhash (Debian package libmurmurhash-dev)";
    }
  }

  std::uint32_t random_seed() { return static_cast<std::uint32_t>(random_()) & kMaxSeed; }
  std::size_t random_below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  void fill(std::vector<char>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = random_();
      for (std::size_t j = i; j < std::min(i + 8, bytes.size()); ++j, word >>= 8) {
        bytes[j] = static_cast<char>(word & 0xff);
      }
    }
  }

 private:
  std::mt19937_64 random_{20240229};
};

// The key ends where its allocation ends, so that sanitizers see a read beyond the key.
TEST_F(HashLibrary, AgreesForEveryLengthAndAlignment) {
  for (std::size_t length = 0; length <= 300; ++length) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      std::vector<char> bytes(offset + length);
      fill(bytes);
      const std::string_view key(bytes.data() + offset, length);
      for (const std::uint32_t seed : {0U, 1U, kMaxSeed, random_seed()}) {
        ASSERT_EQ(in_hex(hash_key(key, seed)), in_hex(library_hash(key, seed)))
            << "length " << length << ", offset " << offset << ", seed " << seed;
      }
    }
  }
}

TEST_F(HashLibrary, AgreesForAMillionRandomKeys) {
  constexpr std::size_t kLongest = 64;
  std::vector<char> bytes(8 + kLongest);
  for (int i = 0; i < 1000000; ++i) {
    fill(bytes);
    const std::string_view key(bytes.data() + random_below(8), random_below(kLongest + 1));
    const std::uint32_t seed = random_seed();
    const Hash own = hash_key(key, seed);
    // No ASSERT_EQ: formatting both hashes would take most of the time.
    if (own != library_hash(key, seed)) {
      FAIL() << "key " << i << " of " << key.size() << " bytes, seed " << seed << ": "
             << in_hex(own) << " instead of " << in_hex(library_hash(key, seed));
    }
  }
}

}  // namespace
}  // namespace bloom
