// The options of CREATE VIRTUAL TABLE ... USING bloom(name=value, ...).
//
// capacity, fpr, kind   as in bloom_create(): the filter is sized for this many keys at this
//                       false-positive rate
// block                 cells per block; 0: unblocked layout
// cells, hashes         instead of capacity and fpr: m and k, as in bloom_create_sized()
// seed                  seed of the hash function
// growth                on: layers are added as keys are added; off: the size never changes
// generations           number of generations, for the command 'rotate': capacity and fpr are those
//                       of all generations together
// collate               binary, nocase or rtrim
// source, column        the table to follow, and its column or list of columns: column=(a, b)
// writers               any: every SQLite program may write to the source; extension: only programs
//                       that load the extension
// on_stale              error or maybe: the answer of a lookup if the filter may have missed a
//                       change of the source
// cache                 bytes of chunks that a connection caches at most
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/filter/layers.h"
#include "core/layout/format.h"
#include "core/sizing/growth.h"
#include "sql/source/source.h"
#include "sql/vtab/option_reader.h"

namespace bloom {

class BloomOptions {
 public:
  // Reads the module arguments as SQLite passes them, each one the text between two commas. Throws
  // bloom::Error with the option, the rule and the value. Also throws for options that exclude each
  // other.
  BloomOptions(sqlite3* db, std::span<const char* const> arguments);

  // Returns how the filter grows; nullopt if it does not grow. By default, a table without
  // `capacity` and `cells` grows. So does one with a source and a capacity, since others write to
  // the source. Counting filters do not, nor does a table with a capacity and small blocks.
  std::optional<Growth> growth() const;
  // Returns the header of the filter, of its first layer if it grows, or of each generation. `keys`
  // is the number of distinct keys in the source. The capacity is that of the options, by
  // default kFirstCapacity, or 1.5 times `keys` if that is larger. Each generation gets its share
  // of the capacity. With `cells` and `hashes`, `keys` and the capacity do not matter. Throws
  // bloom::Error if no valid filter has these parameters.
  Header header(std::uint64_t keys = 0) const;
  // Returns the layers of a new table without a source. Throws as header() does.
  Layers layers() const;
  // Returns the number of generations; nullopt if the table has none.
  std::optional<std::uint64_t> generations() const { return generations_; }
  // Returns the FPR of the whole table, all layers together; with a source and a capacity, that of
  // its first layer (core/sizing/growth.h).
  double fpr() const { return growth_parameters().fpr; }
  std::uint64_t cache_bytes() const { return cache_; }

  // Returns the source and its columns; nullopt if the filter follows no table.
  std::optional<SourceNames> source() const;
  std::optional<Writers> writers() const { return writers_; }
  bool answers_maybe_if_stale() const { return on_stale_ == OnStale::maybe; }
  Kind kind() const { return kind_; }
  Collation collation() const { return collation_.value_or(default_collation_); }
  // Sets the collation unless the options name one. The default is that of the source's column.
  void set_default_collation(Collation collation) { default_collation_ = collation; }

 private:
  enum class OnStale { error, maybe };
  using Reader = OptionReader<BloomOptions>;
  static const Reader kReaders[];

  void require_consistent() const;
  void require_generations_allowed() const;
  Growth growth_parameters() const;
  Header header_from_capacity(std::uint64_t keys) const;  // from capacity and fpr
  Header header_from_cells() const;                       // from cells and hashes

  std::optional<std::uint64_t> capacity_;
  std::optional<double> fpr_;
  Kind kind_ = Kind::standard;
  std::optional<std::uint64_t> block_;
  std::optional<std::uint64_t> cells_;
  std::optional<std::uint64_t> hashes_;
  std::uint64_t seed_ = 0;
  std::optional<bool> growth_;
  std::optional<std::uint64_t> generations_;
  std::optional<Collation> collation_;
  Collation default_collation_ = Collation::binary;
  std::optional<std::string> source_;
  std::vector<std::string> columns_;
  std::optional<Writers> writers_;
  std::optional<OnStale> on_stale_;
  std::uint64_t cache_;
};

}  // namespace bloom
