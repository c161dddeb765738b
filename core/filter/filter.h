// A Bloom filter: FilterView looks up keys in stored bytes, and Filter owns the bytes and can
// change them.
//
// Both take hashes, which their function hash() computes:
//   Filter filter(size_filter(1000, 0.01, Kind::standard));  // core/sizing/sizing.h
//   filter.add(filter.hash("apple"));
//   filter.may_contain(filter.hash("apple"));  // true
// A lookup never returns "absent" for a key that was added. Only one misuse breaks this guarantee:
// removing a key that was never added. If that key is a false positive, its removal decrements
// counters of keys that are in the filter.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "core/filter/array_filter.h"
#include "core/hashing/hash.h"
#include "core/hashing/key.h"
#include "core/layout/cells.h"
#include "core/layout/format.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"
#include "core/support/interrupt_check.h"
#include "core/support/memory.h"

namespace bloom {

// A read-only filter on borrowed bytes. Requires: the bytes outlive the view.
class FilterView {
 public:
  FilterView(const Header& header, const std::uint8_t* cells,
             std::optional<std::uint64_t> cell_checksum = std::nullopt)
      : header_(header),
        array_filter_(header.shape),
        cells_(cells),
        cell_checksum_(cell_checksum) {}

  const Header& header() const { return header_; }
  const Shape& shape() const { return header_.shape; }
  const Geometry& geometry() const { return array_filter_.geometry(); }
  const ArrayFilter& array_filter() const { return array_filter_; }
  const std::uint8_t* cells() const { return cells_; }
  // Returns the checksum with which the cells were stored. Returns nullopt for a filter of format
  // version 1, and for the view of a Filter.
  std::optional<std::uint64_t> cell_checksum() const { return cell_checksum_; }

  // Returns the hash that this filter uses for `key`: with its seed and its collation.
  Hash hash(std::string_view key) const { return hash_key(key, shape().collation, shape().seed); }

  // Sets a new address of the cells, for cells that were moved in memory.
  void rebind(const std::uint8_t* cells) { cells_ = cells; }

  // Returns false if the key was certainly not added, true if it may have been.
  bool may_contain(Hash hash) const { return array_filter_.may_contain(hash, cells_); }
  // Sets answers[i] to 1 if the filter may contain hashes[i], else to 0. Requires: `answers` has
  // hashes.size() bytes.
  void may_contain(std::span<const Hash> hashes, std::uint8_t* answers) const {
    array_filter_.may_contain(hashes, cells_, answers);
  }

  // Returns the value of cell i: 0 or 1 for a bit, 0..15 for a counter.
  unsigned cell(std::uint64_t i) const {
    return shape().kind == Kind::counting ? Counters::get(cells_, i) : Bits::get(cells_, i);
  }

 private:
  Header header_;
  ArrayFilter array_filter_;
  const std::uint8_t* cells_;
  std::optional<std::uint64_t> cell_checksum_;
};

// Opens a stored filter: checks the header and the size, in constant time. Does not copy the cells
// and does not verify their checksum: a caller that reads all cells also calls find_damage().
std::variant<FilterView, Problem> open_filter(ByteView stored);

// Reads all cells, and returns the problem if they do not match their checksum. Cells without a
// checksum have no problem. Throws what `check_interrupt` throws.
std::optional<Problem> find_damage(const FilterView& filter,
                                   const InterruptCheck& check_interrupt = {});

// A filter that owns its bytes.
class Filter {
 public:
  // Constructs an empty filter. Throws std::bad_alloc. Requires: !broken_rule(header.shape).
  explicit Filter(const Header& header);
  // Copies a filter. Throws std::bad_alloc and what `check_interrupt` throws.
  explicit Filter(const FilterView& view, const InterruptCheck& check_interrupt = {});

  // Adds a key. Returns whether any cell changed. For bits, false means that the key may have been
  // in the filter already.
  bool add(Hash hash) { return view_.array_filter().add(hash, cells()); }
  void add(std::span<const Hash> hashes) { view_.array_filter().add(hashes, cells()); }

  // Removes one occurrence of a key. Returns false and changes nothing if the key is certainly
  // absent. Requires: the kind is counting.
  bool remove(Hash hash) {
    assert(shape().kind == Kind::counting);
    return view_.array_filter().remove(hash, cells());
  }

  // Replaces the capacity and FPR in the header: see Header.
  void set_target(std::uint64_t capacity, double fpr);

  const FilterView& view() const { return view_; }
  const Header& header() const { return view_.header(); }
  const Shape& shape() const { return view_.shape(); }
  Hash hash(std::string_view key) const { return view_.hash(key); }
  bool may_contain(Hash hash) const { return view_.may_contain(hash); }

  // Returns the stored form of the filter: the header, with the checksum of the cells, and the
  // cells. Reads all cells. Valid until the filter changes. Throws what `check_interrupt` throws.
  ByteView stored(const InterruptCheck& check_interrupt = {});
  std::uint8_t* cells() { return bytes_.get() + kHeaderBytes; }

  // Transfers ownership of the stored form, as stored() returns it. The filter must not be used
  // afterwards.
  OwnedBytes release(const InterruptCheck& check_interrupt = {});

 private:
  OwnedBytes bytes_;  // stored() writes the header
  FilterView view_;   // views bytes_, whose address does not change when the filter is moved
};

}  // namespace bloom
