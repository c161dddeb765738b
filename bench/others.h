// Filters that Debian packages, as baselines for bench/core.cc: libbloom (libbloom-dev) and the
// filter of RocksDB (librocksdb-dev). A filter whose library was missing at build time is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Hashes per key of a filter with block=512 and 10 bits per key. RocksDB uses the same number.
inline constexpr std::uint32_t kBlock512Hashes = 6;

class Other {
 public:
  virtual ~Other() = default;
  virtual std::string name() const = 0;
  virtual bool has_add() const { return false; }
  virtual bool has_batch_lookup() const { return false; }
  // `keys` is a concatenation of keys of `key_bytes` bytes. Returns how many may be in the filter.
  virtual std::size_t look_up(const std::string& keys, std::size_t key_bytes) = 0;
  virtual std::size_t look_up_batch(const std::string&, std::size_t) { return 0; }
  virtual void add(const std::string&, std::size_t) {}
};

// Returns filters of about `bytes` bytes, filled to capacity. They contain the keys of `present`,
// `distinct` of which are different.
std::vector<std::unique_ptr<Other>> others(std::size_t bytes, double bits_per_key,
                                           const std::string& present, std::size_t distinct,
                                           std::size_t key_bytes);

}  // namespace bench
