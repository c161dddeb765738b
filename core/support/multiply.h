// Products of 128 bits.
#pragma once

#include <cstdint>

namespace bloom {

#ifdef __SIZEOF_INT128__
__extension__ using Uint128 = unsigned __int128;
#endif

// Returns the high 64 bits of a * b. For compilers without a 128-bit integer.
constexpr std::uint64_t multiply_high_portable(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kLow = 0xffffffff;
  const std::uint64_t low = (a & kLow) * (b & kLow);
  const std::uint64_t mid1 = (a >> 32) * (b & kLow) + (low >> 32);
  const std::uint64_t mid2 = (a & kLow) * (b >> 32) + (mid1 & kLow);
  return (a >> 32) * (b >> 32) + (mid1 >> 32) + (mid2 >> 32);
}

// Returns the high 64 bits of a * b.
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  return static_cast<std::uint64_t>((static_cast<Uint128>(a) * b) >> 64);
#else
  return multiply_high_portable(a, b);
#endif
}

// A sum of products modulo 2^128. For compilers without a 128-bit integer.
class ProductSumPortable {
 public:
  constexpr void add_product(std::uint64_t a, std::uint64_t b) {
    add(multiply_high_portable(a, b), a * b);
  }
  constexpr void add(const ProductSumPortable& other) { add(other.high_, other.low_); }
  constexpr std::uint64_t low() const { return low_; }
  constexpr std::uint64_t high() const { return high_; }

 private:
  constexpr void add(std::uint64_t high, std::uint64_t low) {
    low_ += low;
    high_ += high + (low_ < low ? 1 : 0);
  }

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

#ifdef __SIZEOF_INT128__
class ProductSum {
 public:
  constexpr void add_product(std::uint64_t a, std::uint64_t b) {
    sum_ += static_cast<Uint128>(a) * b;
  }
  constexpr void add(const ProductSum& other) { sum_ += other.sum_; }
  constexpr std::uint64_t low() const { return static_cast<std::uint64_t>(sum_); }
  constexpr std::uint64_t high() const { return static_cast<std::uint64_t>(sum_ >> 64); }

 private:
  Uint128 sum_ = 0;
};
#else
using ProductSum = ProductSumPortable;
#endif

}  // namespace bloom
