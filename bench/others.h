// Filters that Debian has packages of, as bench/core.cc asks them: libbloom (libbloom-dev) and that
// of RocksDB (librocksdb-dev). Those that were not there when this was built are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Hashes a key of a filter with block=512 and 10 bits a key: what RocksDB takes, too.
inline constexpr std::uint32_t kLineHashes = 6;

class Other {
 public:
  virtual ~Other() = default;
  virtual std::string name() const = 0;
  virtual bool adds() const { return false; }
  virtual bool asks_many() const { return false; }
  // `keys` are keys of so many bytes one after another. Returns how many may be there.
  virtual std::size_t ask(const std::string& keys, std::size_t key_bytes) = 0;
  virtual std::size_t ask_many(const std::string&, std::size_t) { return 0; }
  virtual void add(const std::string&, std::size_t) {}
};

// Of about so many bytes, full, with the keys `present` in them, of which so many are different.
std::vector<std::unique_ptr<Other>> others(std::size_t bytes, double bits_per_key,
                                           const std::string& present, std::size_t distinct,
                                           std::size_t key_bytes);

}  // namespace bench
