// The core alone, against an exact multiset: operations decoded from the bytes on filters of every
// shape. Every key that is there must be found, and chunks must hold the same cells.
//
// Input: a shape, then operations of one byte and what they take.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/filter/chunked.h"
#include "core/filter/filter.h"
#include "core/hashing/key.h"
#include "core/layout/chunk_layout.h"
#include "core/layout/halving.h"
#include "core/operations/delta.h"
#include "core/operations/estimate.h"
#include "core/operations/merge.h"
#include "core/support/error.h"
#include "tests/fuzz/input.h"
#include "tests/support/stored.h"

namespace bloom::fuzz {
namespace {

constexpr unsigned kKeys = 16;
constexpr int kMostOperations = 16;
constexpr std::uint64_t kMostCells = 1 << 16;  // more than two chunks of bits

// How often each key was added.
using Model = std::array<unsigned, kKeys>;

// All chunks, as ChunkedFilter wants them.
class Chunks {
 public:
  explicit Chunks(const Shape& shape) : cells_(chunk_count(shape) * kChunkBytes) {}

  std::uint8_t* at(std::uint64_t i) { return &cells_.at(i * kChunkBytes); }
  void mark_changed(std::uint64_t i) { require(i * kChunkBytes < cells_.size(), "no such chunk"); }
  bool equals(const Filter& filter) const {
    const std::uint8_t* const cells = filter.view().cells();
    return std::equal(cells, cells + cell_bytes(filter.shape()), cells_.begin());
  }

 private:
  std::vector<std::uint8_t> cells_;
};

Shape shape_of(Input& input) {
  constexpr std::array<std::uint64_t, 8> kBlocks = {0, 1, 7, 64, 100, 512, 7936, 31744};
  Shape shape;
  shape.kind = kKinds[input.below(3)];
  shape.collation = kCollations[input.below(3)];
  shape.seed = input.byte();
  const unsigned slices = 1 + input.below(16);
  shape.hashes = slices;
  const std::uint64_t unit = shape.kind == Kind::partitioned ? slices : 1;
  const std::uint64_t block = kBlocks.at(input.below(kBlocks.size())) * unit;
  // Mostly small: chunks take time.
  const unsigned high = input.byte();
  const std::uint64_t size = 1 + input.byte() + 256 * std::uint64_t{high < 224 ? high % 8 : high};
  if (block == 0) {
    shape.cells = std::min(size, kMostCells / unit) * unit;
  } else {
    shape.block = block;
    shape.cells = block * std::clamp<std::uint64_t>(size % 64, 1, 1 + kMostCells / 4 / block);
  }
  require(!broken_rule(shape), "the shape must be right");
  return shape;
}

// A filter, the same one in chunks, and what it must hold.
class Subject {
 public:
  explicit Subject(const Shape& shape)
      : filter_({.shape = shape, .capacity = 100, .fpr = 0.01}), chunks_(shape), chunked_(shape) {
    for (unsigned i = 0; i < kKeys; ++i) {
      const std::string key = "key " + std::to_string(i);
      hashes_.at(i) = filter_.hash(key);
      require(shape.collation != Collation::rtrim || filter_.hash(key + " ") == hashes_.at(i),
              "keys that are equal have two hashes");
    }
  }

  void step(Input& input) {
    switch (input.below(11)) {
      case 0:
      case 1:
        return add(input.below(kKeys));
      case 2:
        return add_many(input);
      case 3:
      case 4:
        return remove(input.below(kKeys));
      case 5:
        return unite_with(input);
      case 6:
        return intersect_with(input);
      case 7:
        return halve_it();
      case 8:
        return round_trip();
      case 9:
        return send_delta(input);
      default:
        return to_bits();
    }
  }

  void check() {
    check_answers();
    check_estimate();
    require(chunks_.equals(filter_), "chunks hold other cells");
    const std::uint8_t last = filter_.view().cells()[cell_bytes(filter_.shape()) - 1];
    require((last & padding_mask(filter_.shape())) == 0, "stray bits");
  }

 private:
  void check_answers() {
    std::array<std::uint8_t, kKeys> answers;
    answers.fill(2);  // is to be overwritten
    filter_.view().may_contain(hashes_, answers.data());
    for (unsigned i = 0; i < kKeys; ++i) {
      const bool found = filter_.may_contain(hashes_.at(i));
      require(found || model_.at(i) == 0, "a key was lost");
      require(answers.at(i) == (found ? 1 : 0), "many keys at a time are answered otherwise");
      require(chunked_.may_contain(hashes_.at(i), chunks_) == found, "chunks answer otherwise");
    }
  }

  void check_estimate() const {
    const Estimate now = estimate(filter_.view());
    require(now.keys >= 0 && now.fill >= 0 && now.fill <= 1, "keys or fill out of range");
    require(now.fpr >= 0 && now.fpr <= 1.0000001, "rate out of range");
    require((now.fill == 0) == (now.keys == 0), "keys and fill do not agree");
  }

  Hash hash(unsigned key) const { return hashes_.at(key); }
  bool counting() const { return filter_.shape().kind == Kind::counting; }

  void add(unsigned key) {
    const bool changed = filter_.add(hash(key));
    require(chunked_.add(hash(key), chunks_) == changed, "add() of chunks says otherwise");
    require(counting() || !changed || model_[key] == 0, "a key that was there changed a cell");
    ++model_[key];
  }

  void add_many(Input& input) {
    std::vector<Hash> hashes;
    const unsigned first = input.below(kKeys);
    for (unsigned i = first; i < std::min(kKeys, first + input.below(kKeys)); ++i) {
      hashes.push_back(hash(i));
      chunked_.add(hash(i), chunks_);
      ++model_[i];
    }
    filter_.add(hashes);
  }

  // Only what is there, or certainly is not.
  void remove(unsigned key) {
    if (!counting() || (model_[key] == 0 && filter_.may_contain(hash(key)))) {
      return;
    }
    const bool there = model_[key] > 0;
    require(filter_.remove(hash(key)) == there, "remove() says otherwise");
    require(chunked_.remove(hash(key), chunks_) == there, "remove() of chunks says otherwise");
    model_[key] -= there ? 1 : 0;
  }

  // One of the same shape, or of the one that it is the half of.
  std::pair<Filter, Model> other(Input& input) const {
    Shape shape = filter_.shape();
    if (input.flag()) {
      shape.cells *= 2;
      shape.block *= shape.block != 0 && shape.blocks() % 2 != 0 ? 2 : 1;
      shape = shape.cells <= kMostCells && !broken_rule(shape) && is_halvable(shape) &&
                      halved(shape) == filter_.shape()
                  ? shape
                  : filter_.shape();
    }
    Filter filter({.shape = shape});
    Model model{};
    for (unsigned n = input.below(16); n > 0; --n) {
      const unsigned key = input.below(kKeys);
      filter.add(hash(key));
      ++model.at(key);
    }
    return {std::move(filter), model};
  }

  void unite_with(Input& input) {
    const auto [filter, model] = other(input);
    replace(make_union(Filter(filter_.view()), filter.view(), "it"));
    for (unsigned i = 0; i < kKeys; ++i) {
      model_[i] += model[i];
    }
  }

  void intersect_with(Input& input) {
    const auto [filter, model] = other(input);
    replace(make_intersection(Filter(filter_.view()), filter.view(), "it"));
    for (unsigned i = 0; i < kKeys; ++i) {
      model_[i] = std::min(model_[i], model[i]);
    }
  }

  void halve_it() {
    if (is_halvable(filter_.shape())) {
      replace(halve(filter_.view()));
    }
  }

  void round_trip() {
    const auto bytes = test::bytes_of(filter_);
    const auto opened = open_filter(bytes);
    require(std::holds_alternative<FilterView>(opened), "what was written cannot be read");
    const auto& view = std::get<FilterView>(opened);
    require(view.cell_checksum().has_value() && !find_damage(view), "the checksum is wrong");
    require(view.header() == filter_.header(), "the header came back otherwise");
    replace(Filter(view));
    require(bytes == test::bytes_of(filter_), "the bytes came back otherwise");
    const auto cut = open_filter(std::span(bytes).first(bytes.size() - 1));
    require(std::holds_alternative<Problem>(cut), "a byte too few was not noticed");
  }

  // To another filter and back; then with other bytes for the gaps.
  void send_delta(Input& input) {
    const Filter after = other(input).first;
    const StoredDelta sent = make_delta(filter_.view(), after.view());
    std::vector<std::uint8_t> bytes(sent.bytes.get(), sent.bytes.get() + sent.size);
    require(bytes.size() <= stored_bytes(after.shape()) + kDeltaPrefixBytes, "a delta is too long");
    require(makes(bytes, after), "a delta made nothing");
    bytes.at(5) = input.byte();  // docs/format.md
    bytes.resize(kDeltaPrefixBytes + (bytes.at(6) != 0 ? kHeaderBytes : 0));
    const auto gaps = input.take(input.byte());
    bytes.insert(bytes.end(), gaps.begin(), gaps.end());
    makes(bytes, after);
  }

  // Whether the bytes make a filter, which must be `after`.
  bool makes(ByteView bytes, const Filter& after) const {
    const auto opened = open_delta(bytes);
    if (std::holds_alternative<Problem>(opened)) {
      return false;
    }
    const auto made = apply_delta(filter_.view(), std::get<DeltaView>(opened));
    if (std::holds_alternative<Problem>(made)) {
      return false;
    }
    require(test::bytes_of(std::get<Filter>(made)) == test::bytes_of(after),
            "a delta made another filter");
    return true;
  }

  void to_bits() {
    if (filter_.shape().kind != Kind::partitioned) {
      replace(to_standard(filter_.view(), "it"));
    }
  }

  // The chunks are filled again. Halving the chunks must give the same filter.
  void replace(Filter filter) {
    const Shape shape = filter.shape();
    Chunks chunks(shape);
    const bool is_half = is_halvable(filter_.shape()) && halved(filter_.shape()) == shape;
    for (std::uint64_t i = 0; i < chunk_count(shape); ++i) {
      if (is_half) {
        halve_chunk(
            filter_.shape(), i, [&](std::uint64_t j) { return chunks_.at(j); }, chunks.at(i));
      } else {
        std::copy_n(filter.cells() + i * kChunkBytes, chunk_bytes(shape, i), chunks.at(i));
      }
    }
    check_answers();
    filter_ = std::move(filter);
    chunks_ = std::move(chunks);
    chunked_ = ChunkedFilter(shape);
  }

  std::array<Hash, kKeys> hashes_;
  Filter filter_;
  Chunks chunks_;
  ChunkedFilter chunked_;
  Model model_{};
};

void run(Input input) {
  Subject subject(shape_of(input));
  for (int i = 0; i < kMostOperations && !input.at_end(); ++i) {
    subject.step(input);
  }
  subject.check();
}

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bloom::fuzz::run({bytes, size});
  return 0;
}
