// MurmurHash3_x64_128 for builds without libmurmurhash and for big-endian machines: reads bytes in
// little-endian order everywhere, so that its values are the same on every machine.
#pragma once

#include "core/hash.h"

namespace bloom {

Hash murmur3_x64_128(std::string_view key, std::uint32_t seed);

}  // namespace bloom
