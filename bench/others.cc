#include "bench/others.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#ifdef BLOOM_BENCH_LIBBLOOM
#include <bloom.h>
#endif
#ifdef BLOOM_BENCH_ROCKSDB
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

// The interfaces behind FilterPolicy. RocksDB 7 declares them only in its source tree, not in its
// public headers. The order of the virtual functions is that of version 7.8, which Debian 12
// packages.
namespace ROCKSDB_NAMESPACE {
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
};
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& entry) = 0;
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) = 0;
};
}  // namespace ROCKSDB_NAMESPACE
#endif

namespace bench {
namespace {

#ifdef BLOOM_BENCH_LIBBLOOM
class Libbloom : public Other {
 public:
  Libbloom(std::size_t bytes, double bits_per_key, const std::string& present, std::size_t distinct,
           std::size_t key_bytes) {
    const double keys = static_cast<double>(bytes) * 8 / bits_per_key;
    constexpr double kRate = 0.0082;  // gives 10 bits per key and 7 hashes
    ::bloom_init(&filter_, static_cast<int>(keys), kRate);
    // A filter at its capacity is half full. Adding that many keys would take a minute, so random
    // bits stand for all keys but those of `present`.
    const double not_set_by_present =
        std::exp(-filter_.hashes * static_cast<double>(distinct) / filter_.bits);
    fill_at_random(1 - 0.5 / not_set_by_present);
    Libbloom::add(present, key_bytes);
  }
  Libbloom(const Libbloom&) = delete;
  Libbloom& operator=(const Libbloom&) = delete;
  ~Libbloom() override { ::bloom_free(&filter_); }

  std::string name() const override { return "libbloom"; }
  bool has_add() const override { return true; }
  std::size_t look_up(const std::string& keys, std::size_t key_bytes) override {
    std::size_t found = 0;
    for (std::size_t i = 0; i < keys.size(); i += key_bytes) {
      found += ::bloom_check(&filter_, keys.data() + i, static_cast<int>(key_bytes)) == 1 ? 1 : 0;
    }
    return found;
  }
  void add(const std::string& keys, std::size_t key_bytes) override {
    for (std::size_t i = 0; i < keys.size(); i += key_bytes) {
      ::bloom_add(&filter_, keys.data() + i, static_cast<int>(key_bytes));
    }
  }

 private:
  // Sets each bit with this probability, rounded to 1/256. Each binary digit of the probability
  // takes one random word, from the last digit to the first.
  void fill_at_random(double probability) const {
    std::mt19937_64 random(1);
    const auto digits = static_cast<unsigned>(probability * 256);
    for (int i = 0; i + 8 <= filter_.bytes; i += 8) {
      std::uint64_t word = 0;
      for (unsigned digit = 0; digit < 8; ++digit) {
        word = (digits >> digit & 1) != 0 ? word | random() : word & random();
      }
      std::memcpy(filter_.bf + i, &word, sizeof word);
    }
  }

  ::bloom filter_{};
};
#endif

#ifdef BLOOM_BENCH_ROCKSDB
class RocksDb : public Other {
 public:
  RocksDb(std::size_t bytes, double bits_per_key, const std::string& present, std::size_t distinct,
          std::size_t key_bytes)
      : policy_(rocksdb::NewBloomFilterPolicy(bits_per_key)) {
    options_.format_version = 5;
    const rocksdb::FilterBuildingContext context(options_);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(context));
    const auto keys = static_cast<std::size_t>(static_cast<double>(bytes) * 8 / bits_per_key);
    std::size_t added = 0;
    for (; added < distinct; ++added) {
      builder->AddKey({present.data() + added * key_bytes, key_bytes});
    }
    for (std::uint64_t i = 0; added < keys; ++added, ++i) {
      builder->AddKey({reinterpret_cast<const char*>(&i), sizeof i});
    }
    const rocksdb::Slice filter = builder->Finish(&bytes_);
    reader_.reset(policy_->GetFilterBitsReader(filter));
  }

  std::string name() const override { return "RocksDB"; }
  bool has_batch_lookup() const override { return true; }
  std::size_t look_up(const std::string& keys, std::size_t key_bytes) override {
    std::size_t found = 0;
    for (std::size_t i = 0; i < keys.size(); i += key_bytes) {
      found += reader_->MayMatch({keys.data() + i, key_bytes}) ? 1 : 0;
    }
    return found;
  }
  // 32 keys per call, because RocksDB itself looks up at most 32 keys at a time.
  std::size_t look_up_batch(const std::string& keys, std::size_t key_bytes) override {
    std::array<rocksdb::Slice, 32> slices;
    std::array<rocksdb::Slice*, 32> pointers;
    std::array<bool, 32> answers;
    std::size_t found = 0;
    for (std::size_t i = 0; i < keys.size();) {
      int count = 0;
      for (; count < 32 && i < keys.size(); ++count, i += key_bytes) {
        slices[static_cast<std::size_t>(count)] = {keys.data() + i, key_bytes};
        pointers[static_cast<std::size_t>(count)] = &slices[static_cast<std::size_t>(count)];
      }
      reader_->MayMatch(count, pointers.data(), answers.data());
      for (int j = 0; j < count; ++j) {
        found += answers[static_cast<std::size_t>(j)] ? 1 : 0;
      }
    }
    return found;
  }

 private:
  rocksdb::BlockBasedTableOptions options_;
  std::unique_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<const char[]> bytes_;
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};
#endif

}  // namespace

std::vector<std::unique_ptr<Other>> others([[maybe_unused]] std::size_t bytes,
                                           [[maybe_unused]] double bits_per_key,
                                           [[maybe_unused]] const std::string& present,
                                           [[maybe_unused]] std::size_t distinct,
                                           [[maybe_unused]] std::size_t key_bytes) {
  std::vector<std::unique_ptr<Other>> all;
#ifdef BLOOM_BENCH_LIBBLOOM
  all.push_back(std::make_unique<Libbloom>(bytes, bits_per_key, present, distinct, key_bytes));
#endif
#ifdef BLOOM_BENCH_ROCKSDB
  all.push_back(std::make_unique<RocksDb>(bytes, bits_per_key, present, distinct, key_bytes));
#endif
  return all;
}

}  // namespace bench
