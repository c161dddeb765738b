// Latency of the core, one key and many keys at a time. Baselines are other filters that Debian
// packages, and plain loads from the memory of this machine:
//   core_bench [largest size in MiB [rounds]]
// Prints Markdown. Latencies are medians over all rounds, in ns per key; lower is better. Keys are
// strings of 31 bytes, and every latency of a filter includes hashing the key. Filters have 10 bits
// per key and are filled to capacity. Each round measures every row once, so that noise affects all
// rows alike. If the C library libmurmurhash was found at build time, a row of its own shows its
// time to hash the same keys.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/others.h"
#include "core/filter/block512.h"
#include "core/filter/filter.h"
#include "core/hashing/hash.h"
#include "core/layout/chunk_layout.h"

#ifdef BLOOM_MURMURHASH
#include <murmurhash.h>
#endif

namespace {

using namespace bloom;
using bench::Other;

constexpr std::size_t kKeyBytes = 31;
constexpr std::size_t kKeys = std::size_t{1} << 20;
constexpr double kBitsPerKey = 10;
constexpr std::uint32_t kHashes = 7;

// Returns kKeys keys, concatenated. Different seeds give different keys.
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

// Returns kKeys keys, concatenated: the first `distinct` keys of `keys`, repeated.
std::string repeated(const std::string& keys, std::size_t distinct) {
  std::string all;
  for (std::size_t i = 0; i < kKeys; ++i) {
    all.append(keys, i % distinct * kKeyBytes, kKeyBytes);
  }
  return all;
}

std::string_view key_at(const std::string& keys, std::size_t i) {
  return std::string_view(keys).substr(i * kKeyBytes, kKeyBytes);
}

volatile std::size_t sink;

double ns_per_key(const std::function<std::size_t()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  sink = run();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(kKeys);
}

// A filter of this project, filled to one key per kBitsPerKey cells.
class Ours {
 public:
  // Adds `present`, which has `distinct` different keys, and other keys until the filter is full.
  Ours(const Shape& shape, const std::string& present, std::size_t distinct)
      : filter_(Header{.shape = shape}) {
    add_batch(present);
    const auto keys = static_cast<std::uint64_t>(static_cast<double>(shape.cells) / kBitsPerKey);
    std::vector<Hash> hashes(kAtOnce);
    for (std::uint64_t i = distinct; i < keys; i += kAtOnce) {
      for (std::size_t j = 0; j < kAtOnce; ++j) {
        const std::uint64_t key = i + j;
        hashes[j] = hash_key({reinterpret_cast<const char*>(&key), sizeof key}, 0);
      }
      filter_.add(hashes);
    }
  }

  std::size_t look_up(const std::string& keys) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < kKeys; ++i) {
      found += filter_.may_contain(hash_key(key_at(keys, i), 0)) ? 1 : 0;
    }
    return found;
  }
  std::size_t look_up_batch(const std::string& keys) {
    std::uint8_t answers[kAtOnce];
    std::size_t found = 0;
    for_each_batch(keys, [&](std::span<const Hash> hashes) {
      filter_.view().may_contain(hashes, answers);
      found += std::accumulate(answers, answers + hashes.size(), std::size_t{0});
    });
    return found;
  }
  void add(const std::string& keys) {
    for (std::size_t i = 0; i < kKeys; ++i) {
      filter_.add(hash_key(key_at(keys, i), 0));
    }
  }
  void add_batch(const std::string& keys) {
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

// Loads of 64 bytes from random addresses: each dependent on the one before, or all independent.
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
  std::size_t dependent_loads() {
    auto at = static_cast<std::uint32_t>(sink % lines_.size());
    for (std::size_t i = 0; i < kKeys; ++i) {
      at = lines_[at].next;
    }
    return at;
  }
  std::size_t independent_loads() {
    std::uint64_t sum = 0;
    std::uint64_t x = sink;
    for (std::size_t i = 0; i < kKeys; ++i) {
      x = x * 0xd1342543de82ef95 + 1;
      sum += lines_[reduce(x, lines_.size())].next;
    }
    return sum;
  }

 private:
  struct alignas(64) Line {
    std::uint32_t next = 0;
  };
  std::vector<Line> lines_;
};

std::size_t hash_all(const std::string& keys) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kKeys; ++i) {
    sum += hash_key(key_at(keys, i), 0).h1;
  }
  return sum;
}

#ifdef BLOOM_MURMURHASH
// Hashes the keys of hash_all() with the C library libmurmurhash (libmurmurhash-dev).
std::size_t library_hash_all(const std::string& keys) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kKeys; ++i) {
    const std::string_view key = key_at(keys, i);
    std::uint64_t hash[2];
    lmmh_x64_128(key.data(), static_cast<unsigned int>(key.size()), 0, hash);
    sum += hash[0];
  }
  return sum;
}
#endif

enum Column {
  kLookupAbsent,
  kLookupPresent,
  kBatchAbsent,
  kBatchPresent,
  kAdd,
  kAddBatch,
  kColumns
};

struct Row {
  std::string name;
  std::function<std::size_t()> runs[kColumns];  // null: not supported
  double absent_found = 0;                      // the share of absent keys that were found
  std::vector<double> ns[kColumns] = {};
};

Row row_of(Other& other, const std::string& present, const std::string& absent,
           const std::string& fresh) {
  Row row{other.name(), {}};
  row.runs[kLookupAbsent] = [&] { return other.look_up(absent, kKeyBytes); };
  row.runs[kLookupPresent] = [&] { return other.look_up(present, kKeyBytes); };
  if (other.has_batch_lookup()) {
    row.runs[kBatchAbsent] = [&] { return other.look_up_batch(absent, kKeyBytes); };
    row.runs[kBatchPresent] = [&] { return other.look_up_batch(present, kKeyBytes); };
  }
  if (other.has_add()) {
    row.runs[kAdd] = [&] { return other.add(fresh, kKeyBytes), 0; };
  }
  return row;
}

Row row_of(const std::string& name, Ours& ours, const std::string& present,
           const std::string& absent, const std::string& fresh) {
  return {name,
          {[&] { return ours.look_up(absent); }, [&] { return ours.look_up(present); },
           [&] { return ours.look_up_batch(absent); }, [&] { return ours.look_up_batch(present); },
           [&] { return ours.add(fresh), 0; }, [&] { return ours.add_batch(fresh), 0; }}};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Returns the median over all rounds of the ratio of two latencies in the same round.
double ratio(const Row& row, Column column, const Row& other, Column other_column) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < row.ns[column].size(); ++i) {
    ratios.push_back(row.ns[column][i] / other.ns[other_column][i]);
  }
  return median(ratios);
}

void print(std::size_t kib, const std::vector<Row>& rows) {
  std::printf(
      "\n### Filters of %zu %s, ns per key\n\n| | lookup, absent | present | batch lookup, absent "
      "| present | add | batch add | false positives |\n|%s\n",
      kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB",
      " --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const Row& row : rows) {
    std::printf("| %s |", row.name.c_str());
    for (const auto& ns : row.ns) {
      ns.empty() ? std::printf(" |") : std::printf(" %.1f |", median(ns));
    }
    row.runs[kLookupPresent] ? std::printf(" %.2f %% |\n", 100 * row.absent_found)
                             : std::printf(" |\n");
  }
}

const Row* find(const std::vector<Row>& rows, const std::string& name) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

void print_goals(const std::vector<Row>& rows) {
  const auto line = [](const std::string& what, const std::string& against, double value,
                       double goal) {
    std::printf("| %s | %s | %.2f | %.2f %s |\n", what.c_str(), against.c_str(), value, goal,
                value <= goal ? "met" : "**missed**");
  };
  std::printf(
      "\n| what | baseline | ratio (lower is better) | goal |\n| --- | --- | --- | --- |\n");
  if (const Row* other = find(rows, "libbloom")) {
    for (const char* name : {"block=0", "block=31744", "block=512"}) {
      const Row& own = *find(rows, name);
      const std::string title = name;
      line(title + ", lookup, the slower of absent and present", "libbloom",
           std::max(ratio(own, kLookupAbsent, *other, kLookupAbsent),
                    ratio(own, kLookupPresent, *other, kLookupPresent)),
           1.0 / 3);
      line(title + ", batch lookup, the slower of absent and present", "libbloom",
           std::max(ratio(own, kBatchAbsent, *other, kLookupAbsent),
                    ratio(own, kBatchPresent, *other, kLookupPresent)),
           1.0 / 3);
      line(title + ", add", "libbloom", ratio(own, kAdd, *other, kAdd), 1.0 / 3);
      line(title + ", batch add", "libbloom", ratio(own, kAddBatch, *other, kAdd), 1.0 / 3);
    }
  }
  if (const Row* other = find(rows, "RocksDB")) {
    const Row& own = *find(rows, "block=512");
    line("block=512, batch lookup, the slower of absent and present", "RocksDB, batch lookup",
         std::max(ratio(own, kBatchAbsent, *other, kBatchAbsent),
                  ratio(own, kBatchPresent, *other, kBatchPresent)),
         1.3);
  }
  std::fflush(stdout);
}

void measure(std::size_t kib, int rounds) {
  const std::string present = make_keys(2);
  const std::string absent = make_keys(3);
  const std::string fresh = make_keys(4);
  const std::uint64_t bits = kib * 1024 * 8;
  // No more distinct keys than the filter has capacity for.
  const auto fit = static_cast<std::size_t>(static_cast<double>(bits) / kBitsPerKey);
  const std::size_t distinct = std::min(fit, kKeys) / 2;
  const std::string few = repeated(present, distinct);
  const std::string few_fresh = repeated(fresh, distinct);
  const auto shape = [&](std::uint64_t block, std::uint32_t hashes) {
    const std::uint64_t cells = block == 0 ? bits : bits / block * block;
    return Shape{.kind = Kind::standard, .hashes = hashes, .cells = cells, .block = block};
  };
  Ours unblocked(shape(0, kHashes), few, distinct);
  Ours blocks_of_chunk(shape(kChunkBytes * 8, kHashes), few, distinct);
  Ours block512(shape(kBlock512Cells, bench::kBlock512Hashes), few, distinct);
  Memory memory(kib * 1024);
  const auto others = bench::others(kib * 1024, kBitsPerKey, few, distinct, kKeyBytes);

  std::vector<Row> rows;
  rows.push_back({"memory: dependent loads", {[&] { return memory.dependent_loads(); }}});
  rows.push_back({"memory: independent loads", {[&] { return memory.independent_loads(); }}});
  rows.push_back({"hash of the key alone", {[&] { return hash_all(absent); }}});
#ifdef BLOOM_MURMURHASH
  rows.push_back({"hash by libmurmurhash alone", {[&] { return library_hash_all(absent); }}});
#endif
  rows.push_back(row_of("block=0", unblocked, few, absent, few_fresh));
  rows.push_back(row_of("block=31744", blocks_of_chunk, few, absent, few_fresh));
  rows.push_back(row_of("block=512", block512, few, absent, few_fresh));
  for (const auto& other : others) {
    rows.push_back(row_of(*other, few, absent, few_fresh));
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      for (Row& row : rows) {
        if (row.runs[column]) {
          row.ns[column].push_back(ns_per_key(row.runs[column]));
          // Must be measured in the first round, before the columns for adding fill the filter
          // further.
          if (column == kLookupAbsent && round == 0) {
            row.absent_found = static_cast<double>(sink) / static_cast<double>(kKeys);
          }
        }
      }
    }
  }
  print(kib, rows);
  print_goals(rows);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t largest = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 256) * 1024;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  for (const std::size_t kib : {std::size_t{256}, std::size_t{8} << 10, std::size_t{256} << 10}) {
    if (kib <= largest) {
      measure(kib, rounds);
    }
  }
}
