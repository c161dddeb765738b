// The core alone, key by key and many keys at a time, against other filters of Debian and against
// what the memory of the machine allows:
//   core_bench [largest size in MiB [rounds]]
// Prints a Markdown table of medians. Keys are texts of 31 bytes; every figure includes their hash.
// Filters have 10 bits a key and are as full as that makes them.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/others.h"
#include "core/filter.h"
#include "core/hash.h"
#include "core/line.h"

namespace {

using namespace bloom;
using bench::Other;

constexpr std::size_t kKeyBytes = 31;
constexpr std::size_t kKeys = std::size_t{1} << 20;
constexpr double kBitsPerKey = 10;
constexpr std::uint32_t kHashes = 7;

// kKeys keys, one after another; others for every seed.
std::string make_keys(std::uint64_t seed) {
  std::string keys;
  char key[kKeyBytes + 1];
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < kKeys; ++i) {
    std::snprintf(key, sizeof key, "https://example.com/%011llx",
                  static_cast<unsigned long long>(random() >> 20));
    keys.append(key, kKeyBytes);
  }
  return keys;
}

std::string_view key_at(const std::string& keys, std::size_t i) {
  return std::string_view(keys).substr(i * kKeyBytes, kKeyBytes);
}

double ns_per_key(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(kKeys);
}

volatile std::size_t sink;

// Ours, one shape.
class Ours {
 public:
  Ours(const Shape& shape, const std::string& present) : filter_(Header{.shape = shape}) {
    std::mt19937_64 random(1);
    const std::uint64_t bytes = cell_bytes(shape);
    for (std::uint64_t i = 0; i + 8 <= bytes; i += 8) {
      const std::uint64_t word = random();
      std::copy_n(reinterpret_cast<const std::uint8_t*>(&word), 8, filter_.cells() + i);
    }
    add(present);
  }

  void ask(const std::string& keys) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < kKeys; ++i) {
      found += filter_.may_contain(hash_key(key_at(keys, i), 0)) ? 1 : 0;
    }
    sink = found;
  }
  void ask_many(const std::string& keys) {
    std::uint8_t answers[kAtOnce];
    std::size_t found = 0;
    for_each_batch(keys, [&](std::span<const Hash> hashes) {
      filter_.view().may_contain(hashes, answers);
      found += std::accumulate(answers, answers + hashes.size(), std::size_t{0});
    });
    sink = found;
  }
  void add(const std::string& keys) {
    for (std::size_t i = 0; i < kKeys; ++i) {
      filter_.add(hash_key(key_at(keys, i), 0));
    }
  }
  void add_many(const std::string& keys) {
    for_each_batch(keys, [&](std::span<const Hash> hashes) { filter_.add(hashes); });
  }

 private:
  static constexpr std::size_t kAtOnce = 256;

  template <typename F>
  static void for_each_batch(const std::string& keys, F&& f) {
    Hash hashes[kAtOnce];
    for (std::size_t i = 0; i < kKeys; i += kAtOnce) {
      for (std::size_t j = 0; j < kAtOnce; ++j) {
        hashes[j] = hash_key(key_at(keys, i + j), 0);
      }
      f(std::span<const Hash>(hashes));
    }
  }

  Filter filter_;
};

// Loads of 64 bytes at random places: one after another, and as many at a time as may be.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : lines_(bytes / sizeof(Line)) {
    std::vector<std::uint32_t> order(lines_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(1));
    for (std::size_t i = 0; i < order.size(); ++i) {
      lines_[order[i]].next = order[(i + 1) % order.size()];
    }
  }
  void one_after_another() {
    std::uint32_t at = static_cast<std::uint32_t>(sink % lines_.size());
    for (std::size_t i = 0; i < kKeys; ++i) {
      at = lines_[at].next;
    }
    sink = at;
  }
  void together() {
    std::uint64_t sum = 0;
    std::uint64_t x = sink;
    for (std::size_t i = 0; i < kKeys; ++i) {
      x = x * 0xd1342543de82ef95 + 1;
      sum += lines_[reduce(x, lines_.size())].next;
    }
    sink = sum;
  }

 private:
  struct alignas(64) Line {
    std::uint32_t next = 0;
  };
  std::vector<Line> lines_;
};

using Runs = std::vector<std::pair<std::string, std::function<void()>>>;

void add_other(Runs& runs, Other& other, const std::string& present, const std::string& absent,
               const std::string& fresh) {
  const std::string name = other.name();
  runs.emplace_back(name + " ask absent", [&] { sink = other.ask(absent, kKeyBytes); });
  runs.emplace_back(name + " ask present", [&] { sink = other.ask(present, kKeyBytes); });
  if (other.asks_many()) {
    runs.emplace_back(name + " ask many absent", [&] { sink = other.ask_many(absent, kKeyBytes); });
    runs.emplace_back(name + " ask many present",
                      [&] { sink = other.ask_many(present, kKeyBytes); });
  }
  if (other.adds()) {
    runs.emplace_back(name + " add", [&] { other.add(fresh, kKeyBytes); });
  }
}

void add_ours(Runs& runs, const std::string& name, Ours& ours, const std::string& present,
              const std::string& absent, const std::string& fresh) {
  runs.emplace_back(name + " ask absent", [&] { ours.ask(absent); });
  runs.emplace_back(name + " ask present", [&] { ours.ask(present); });
  runs.emplace_back(name + " ask many absent", [&] { ours.ask_many(absent); });
  runs.emplace_back(name + " ask many present", [&] { ours.ask_many(present); });
  runs.emplace_back(name + " add", [&] { ours.add(fresh); });
  runs.emplace_back(name + " add many", [&] { ours.add_many(fresh); });
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void measure(std::size_t kib, int rounds) {
  const std::string present = make_keys(2);
  const std::string absent = make_keys(3);
  const std::string fresh = make_keys(4);
  const std::uint64_t bits = kib * 1024 * 8;
  const auto shape = [&](std::uint64_t block, std::uint32_t hashes) {
    const std::uint64_t cells = block == 0 ? bits : bits / block * block;
    return Shape{.kind = Kind::standard, .hashes = hashes, .cells = cells, .block = block};
  };
  Ours whole(shape(0, kHashes), present);
  Ours page(shape(kChunkBytes * 8, kHashes), present);
  Ours line(shape(kLineCells, bench::kLineHashes), present);
  Memory memory(kib * 1024);
  const auto others = bench::others(kib * 1024, kBitsPerKey, present, kKeyBytes);

  Runs runs;
  runs.emplace_back("memory, one load after another", [&] { memory.one_after_another(); });
  runs.emplace_back("memory, loads together", [&] { memory.together(); });
  runs.emplace_back("hash alone", [&] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kKeys; ++i) {
      sum += hash_key(key_at(absent, i), 0).h1;
    }
    sink = sum;
  });
  add_ours(runs, "block=0", whole, present, absent, fresh);
  add_ours(runs, "block=31744", page, present, absent, fresh);
  add_ours(runs, "block=512", line, present, absent, fresh);
  for (const auto& other : others) {
    add_other(runs, *other, present, absent, fresh);
  }

  std::map<std::string, std::vector<double>> measured;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [name, run] : runs) {
      measured[name].push_back(ns_per_key(run));
    }
  }
  for (const auto& [name, run] : runs) {
    std::printf("| %zu KiB | %s | %.1f |\n", kib, name.c_str(), median(measured[name]));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t largest = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) * 1024;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  std::printf("| cells | what | ns a key |\n| --- | --- | --- |\n");
  for (const std::size_t kib : {std::size_t{256}, std::size_t{8} << 10, std::size_t{256} << 10}) {
    if (kib <= largest) {
      measure(kib, rounds);
    }
  }
}
