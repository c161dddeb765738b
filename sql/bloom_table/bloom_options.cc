#include "sql/bloom_table/bloom_options.h"

#include <algorithm>

#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/values/arguments.h"

namespace bloom {
namespace {

using Argument = OptionArgument;

// Holds the filter of 53 million keys at an FPR of 1 %. A smaller filter allocates only its own
// size.
constexpr std::uint64_t kDefaultCache = 64U << 20U;
// The minimum is one chunk. The maximum keeps the list of places within 60 MB, whatever a schema
// sets.
constexpr std::uint64_t kMinCache = 4096;
constexpr std::uint64_t kMaxCache = std::uint64_t{1} << 32U;
// With one generation, 'rotate' would forget keys that were added just before.
constexpr std::uint64_t kMinGenerations = 2;

}  // namespace

const BloomOptions::Reader BloomOptions::kReaders[] = {
    {"capacity", [](BloomOptions& o, const Argument& w) { o.capacity_ = w.integer(1, kMaxKeys); }},
    {"fpr",
     [](BloomOptions& o, const Argument& w) { o.fpr_ = fpr_argument(w.unquoted_value(), w.name); }},
    {"kind", [](BloomOptions& o, const Argument& w) { o.kind_ = kind_argument(w.value()); }},
    {"block", [](BloomOptions& o, const Argument& w) { o.block_ = w.integer(0, kMaxCells); }},
    {"seed", [](BloomOptions& o, const Argument& w) { o.seed_ = w.integer(0, kMaxSeed); }},
    {"cells", [](BloomOptions& o, const Argument& w) { o.cells_ = w.integer(1, kMaxCells); }},
    {"hashes", [](BloomOptions& o, const Argument& w) { o.hashes_ = w.integer(1, kMaxHashes); }},
    {"growth", [](BloomOptions& o, const Argument& w) { o.growth_ = w.on_or_off(); }},
    {"generations",
     [](BloomOptions& o, const Argument& w) {
       o.generations_ = w.integer(kMinGenerations, kMaxLayers);
     }},
    {"collate", [](BloomOptions& o, const Argument& w) { o.collation_ = w.collation(); }},
    {"source", [](BloomOptions& o, const Argument& w) { o.source_ = w.word(); }},
    {"column", [](BloomOptions& o, const Argument& w) { o.columns_ = w.words(); }},
    {"writers",
     [](BloomOptions& o, const Argument& w) {
       o.writers_ = w.is_first_of("any", "extension") ? Writers::any : Writers::extension;
     }},
    {"on_stale",
     [](BloomOptions& o, const Argument& w) {
       o.on_stale_ = w.is_first_of("error", "maybe") ? OnStale::error : OnStale::maybe;
     }},
    {"cache",
     [](BloomOptions& o, const Argument& w) { o.cache_ = w.integer(kMinCache, kMaxCache); }},
};

BloomOptions::BloomOptions(sqlite3* db, std::span<const char* const> arguments)
    : cache_(kDefaultCache) {
  read_options<BloomOptions>(db, arguments, kReaders, *this);
  require_consistent();
}

void BloomOptions::require_generations_allowed() const {
  if (source_) {
    fail(
        "a table that follows a source cannot have generations: it would forget keys that the "
        "source still has");
  }
  if (kind_ == Kind::counting) {
    fail(
        "a counting filter cannot have generations: a key could be removed from a generation that "
        "does not have it");
  }
  if (cells_ || hashes_) {
    fail(
        "option generations cannot be given together with cells and hashes (give capacity and "
        "fpr)");
  }
  if (growth_.value_or(false)) {
    fail("a table with generations does not grow (give it the capacity of the whole window)");
  }
  if (!capacity_) {
    fail("a table with generations needs a capacity: the keys of all generations together");
  }
}

void BloomOptions::require_consistent() const {
  const auto refuse_beside_cells = [](const char* name) {
    fail(std::string("option ") + name + " cannot be given together with cells and hashes");
  };
  if (cells_.has_value() != hashes_.has_value()) {
    refuse("cells and hashes", "given together", cells_ ? "cells only" : "hashes only");
  }
  if (source_.has_value() == columns_.empty()) {
    refuse("source and column", "given together", source_ ? "source only" : "column only");
  }
  if (!source_ && (writers_ || on_stale_)) {
    fail(std::string("option ") + (writers_ ? "writers" : "on_stale") +
         " is only for a table that follows a source (give source and column)");
  }
  if (generations_) {
    require_generations_allowed();
  }
  if (cells_ && capacity_) {
    refuse_beside_cells("capacity");
  }
  if (cells_ && fpr_) {
    refuse_beside_cells("fpr");
  }
  if (cells_ && growth_.value_or(false)) {
    refuse_beside_cells("growth");
  }
  if (growth_.value_or(false) && kind_ == Kind::counting) {
    fail(
        "a counting filter cannot grow: a key could be removed from a layer that does not have it "
        "(give it a capacity)");
  }
  if (growth() && block_.value_or(0) != 0 && *block_ < kMinGrowingBlock) {
    refuse("block of a table that grows", "0 or at least " + std::to_string(kMinGrowingBlock),
           std::to_string(*block_));
  }
  if (!capacity_ && !cells_ && !source_ && !growth()) {
    fail("a table that does not grow needs a size (give capacity=N, or cells=M and hashes=K)");
  }
}

std::optional<Growth> BloomOptions::growth() const {
  const bool block_can_grow = block_.value_or(0) == 0 || *block_ >= kMinGrowingBlock;
  const bool exceeds_capacity = capacity_ && source_ && block_can_grow;
  const bool by_default = (!capacity_ || exceeds_capacity) && !cells_ && kind_ != Kind::counting;
  return growth_.value_or(by_default) ? std::optional(growth_parameters()) : std::nullopt;
}

Growth BloomOptions::growth_parameters() const {
  return {.fpr = fpr_.value_or(kDefaultFpr),
          .kind = kind_,
          .block = block_,
          .seed = static_cast<std::uint32_t>(seed_),
          .collation = collation()};
}

Header BloomOptions::header(std::uint64_t keys) const {
  Header header = cells_ ? header_from_cells() : header_from_capacity(keys);
  header.shape.seed = growth_parameters().seed;
  header.shape.collation = collation();
  return header;
}

Layers BloomOptions::layers() const {
  return generations_ ? Layers::generations(header(), static_cast<std::size_t>(*generations_))
                      : Layers(header());
}

// The FPR of all generations together is at most the sum of theirs, so each gets an equal share.
Header BloomOptions::header_from_capacity(std::uint64_t keys) const {
  const std::uint64_t parts = generations_.value_or(1);
  const std::uint64_t total =
      std::max(capacity_.value_or(kFirstCapacity), std::min(keys + keys / 2, kMaxKeys));
  const std::uint64_t capacity = total / parts + (total % parts == 0 ? 0 : 1);
  if (growth() && (growth_ || !capacity_)) {
    return first_layer(growth_parameters(), capacity);
  }
  const double fpr = growth_parameters().fpr / static_cast<double>(parts);
  return size_filter(capacity, fpr, kind_, block_);
}

Header BloomOptions::header_from_cells() const {
  Header header;
  Shape& shape = header.shape;
  shape.cells = *cells_;
  shape.hashes = static_cast<std::uint32_t>(*hashes_);
  shape.kind = kind_;
  shape.block = block_.value_or(0);
  require_valid(shape);
  return header;
}

std::optional<SourceNames> BloomOptions::source() const {
  return source_ ? std::optional(SourceNames{*source_, columns_}) : std::nullopt;
}

}  // namespace bloom
