// Runs operations of core/ on filters of any shape, and compares them with an exact multiset. Every
// key that was added must be found, and the same filter in chunks must have the same cells.
//
// Input: a shape, then operations. An operation is one byte, followed by its arguments.
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
constexpr int kMaxOperations = 16;
constexpr std::uint64_t kMaxFuzzCells = 1 << 16;  // more than two chunks of bits

// How many times each key was added.
using Model = std::array<unsigned, kKeys>;

// The chunks of a filter in memory, for ChunkedFilter.
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
  // Mostly small filters: many chunks take time.
  const unsigned high = input.byte();
  const std::uint64_t size = 1 + input.byte() + 256 * std::uint64_t{high < 224 ? high % 8 : high};
  if (block == 0) {
    shape.cells = std::min(size, kMaxFuzzCells / unit) * unit;
  } else {
    shape.block = block;
    shape.cells = block * std::clamp<std::uint64_t>(size % 64, 1, 1 + kMaxFuzzCells / 4 / block);
  }
  require(!broken_rule(shape), "the shape is not valid");
  return shape;
}

// A filter, the same filter in chunks, and the keys that both must contain.
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
        return union_with(input);
      case 6:
        return intersect_with(input);
      case 7:
        return halve_filter();
      case 8:
        return round_trip();
      case 9:
        return send_delta(input);
      default:
        return convert_to_standard();
    }
  }

  void check() {
    check_answers();
    check_estimate();
    require(chunks_.equals(filter_), "the cells of the chunks differ");
    const std::uint8_t last = filter_.view().cells()[cell_bytes(filter_.shape()) - 1];
    require((last & padding_mask(filter_.shape())) == 0, "bits after the last cell are set");
  }

 private:
  void check_answers() {
    std::array<std::uint8_t, kKeys> answers;
    answers.fill(2);  // must be overwritten
    filter_.view().may_contain(hashes_, answers.data());
    for (unsigned i = 0; i < kKeys; ++i) {
      const bool found = filter_.may_contain(hashes_.at(i));
      require(found || model_.at(i) == 0, "a key was lost");
      require(answers.at(i) == (found ? 1 : 0), "a batch of keys has other answers");
      require(chunked_.may_contain(hashes_.at(i), chunks_) == found,
              "the chunks have another answer");
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
    require(chunked_.add(hash(key), chunks_) == changed,
            "add() of the chunks returns something else");
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

  // Removes a key that was added or is certainly absent. Removing a false positive could lose keys.
  void remove(unsigned key) {
    if (!counting() || (model_[key] == 0 && filter_.may_contain(hash(key)))) {
      return;
    }
    const bool there = model_[key] > 0;
    require(filter_.remove(hash(key)) == there, "remove() returns the wrong result");
    require(chunked_.remove(hash(key), chunks_) == there,
            "remove() of the chunks returns the wrong result");
    model_[key] -= there ? 1 : 0;
  }

  // Returns a filter of the same shape or of twice the size, and its keys.
  std::pair<Filter, Model> random_filter(Input& input) const {
    Shape shape = filter_.shape();
    if (input.flag()) {
      shape.cells *= 2;
      shape.block *= shape.block != 0 && shape.blocks() % 2 != 0 ? 2 : 1;
      shape = shape.cells <= kMaxFuzzCells && !broken_rule(shape) && is_halvable(shape) &&
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

  void union_with(Input& input) {
    const auto [filter, model] = random_filter(input);
    replace(make_union(Filter(filter_.view()), filter.view(), "it"));
    for (unsigned i = 0; i < kKeys; ++i) {
      model_[i] += model[i];
    }
  }

  void intersect_with(Input& input) {
    const auto [filter, model] = random_filter(input);
    replace(make_intersection(Filter(filter_.view()), filter.view(), "it"));
    for (unsigned i = 0; i < kKeys; ++i) {
      model_[i] = std::min(model_[i], model[i]);
    }
  }

  void halve_filter() {
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
    require(view.header() == filter_.header(), "the header that was read differs");
    replace(Filter(view));
    require(bytes == test::bytes_of(filter_), "the bytes that were read differ");
    const auto cut = open_filter(std::span(bytes).first(bytes.size() - 1));
    require(std::holds_alternative<Problem>(cut), "a filter without its last byte was accepted");
  }

  // Makes and applies a delta to another filter. Then replaces its encoded gaps by input bytes.
  void send_delta(Input& input) {
    const Filter after = random_filter(input).first;
    const StoredDelta sent = make_delta(filter_.view(), after.view());
    std::vector<std::uint8_t> bytes(sent.bytes.get(), sent.bytes.get() + sent.size);
    require(bytes.size() <= stored_bytes(after.shape()) + kDeltaPrefixBytes, "a delta is too long");
    require(applies(bytes, after), "a delta cannot be applied");
    bytes.at(5) = input.byte();  // docs/format.md
    bytes.resize(kDeltaPrefixBytes + (bytes.at(6) != 0 ? kHeaderBytes : 0));
    const auto gaps = input.take(input.byte());
    bytes.insert(bytes.end(), gaps.begin(), gaps.end());
    applies(bytes, after);
  }

  // Returns whether the bytes are a delta that can be applied. The result must then be `after`.
  bool applies(ByteView bytes, const Filter& after) const {
    const auto opened = open_delta(bytes);
    if (std::holds_alternative<Problem>(opened)) {
      return false;
    }
    const auto made = apply_delta(filter_.view(), std::get<DeltaView>(opened));
    if (std::holds_alternative<Problem>(made)) {
      return false;
    }
    require(test::bytes_of(std::get<Filter>(made)) == test::bytes_of(after),
            "a delta results in another filter");
    return true;
  }

  void convert_to_standard() {
    if (filter_.shape().kind != Kind::partitioned) {
      replace(to_standard(filter_.view(), "it"));
    }
  }

  // Replaces the filter. Makes the new chunks by halving the old ones if that is possible, else
  // copies the cells.
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
  for (int i = 0; i < kMaxOperations && !input.at_end(); ++i) {
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
