#include "core/hash.h"

#ifdef BLOOM_USE_LIBMURMURHASH
#include <murmurhash.h>
#else
#include "core/murmur3.h"
#endif

namespace bloom {

#ifdef BLOOM_USE_LIBMURMURHASH

Hash hash_key(std::string_view key, std::uint32_t seed) {
  std::uint64_t out[2];
  lmmh_x64_128(key.data(), static_cast<unsigned>(key.size()), seed, out);
  return {out[0], out[1]};
}

std::string_view hash_implementation() { return "libmurmurhash"; }

#else

Hash hash_key(std::string_view key, std::uint32_t seed) { return murmur3_x64_128(key, seed); }

std::string_view hash_implementation() { return "in-tree"; }

#endif

}  // namespace bloom
