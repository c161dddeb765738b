// Estimates the number of distinct keys in a stream without storing them: HyperLogLog (P. Flajolet,
// E. Fusy, O. Gandouet, F. Meunier, 2007). The standard error is 0.8 %, in 16 KiB of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hashing/hash.h"

namespace bloom {

class HyperLogLog {
 public:
  HyperLogLog() : longest_(kRegisters) {}

  void add(Hash hash);
  double estimate() const;

 private:
  static constexpr unsigned kIndexBits = 14;
  static constexpr std::uint64_t kRegisters = std::uint64_t{1} << kIndexBits;

  // Per register: 1 + the largest number of leading zeros in h2 of its hashes. 0: no hash yet.
  std::vector<std::uint8_t> longest_;
};

}  // namespace bloom
