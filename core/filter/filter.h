// A Bloom filter: stored bytes that can be asked (FilterView) or owned and changed (Filter).
//
// Both work on hashes; hash_of() in core/hashing/key.h makes them from keys.
// A key that was added is never answered "absent". The one misuse that can break this is to remove
// a key that was never added: it may pass as present and take cells from keys that are there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "core/filter/probe.h"
#include "core/hashing/hash.h"
#include "core/layout/cells.h"
#include "core/layout/format.h"
#include "core/layout/geometry.h"
#include "core/layout/shape.h"
#include "core/support/interrupt_check.h"
#include "core/support/memory.h"

namespace bloom {

// Somebody else's bytes, seen as a filter; they must outlive the view.
class FilterView {
 public:
  FilterView(const Header& header, const std::uint8_t* cells)
      : header_(header), probe_(header.shape), cells_(cells) {}

  const Header& header() const { return header_; }
  const Shape& shape() const { return header_.shape; }
  const Geometry& geometry() const { return probe_.geometry(); }
  const Probe& probe() const { return probe_; }
  const std::uint8_t* cells() const { return cells_; }

  // The same filter, whose cells are elsewhere now.
  void move_to(const std::uint8_t* cells) { cells_ = cells; }

  // False: certainly not added. True: maybe.
  bool may_contain(Hash hash) const {
    return probe_.may_contain(hash, cells_, geometry().first_cell(hash));
  }
  // For many keys: answers[i] becomes 1 or 0 for hashes[i].
  void may_contain(std::span<const Hash> hashes, std::uint8_t* answers) const {
    probe_.may_contain(hashes, cells_, answers);
  }

  // What is in a cell: 0 or 1, or a count.
  unsigned cell(std::uint64_t i) const {
    return shape().kind == Kind::counting ? Counters::get(cells_, i) : Bits::get(cells_, i);
  }

 private:
  Header header_;
  Probe probe_;
  const std::uint8_t* cells_;
};

// Takes time that does not depend on the size of the filter.
std::variant<FilterView, Problem> open_filter(ByteView stored);

class Filter {
 public:
  // Empty. Throws std::bad_alloc.
  explicit Filter(const Header& header);
  // A copy.
  explicit Filter(const FilterView& view, const InterruptCheck& check_interrupt = {});

  // Adds a key; returns whether any cell changed. For bits false means that the key may have been
  // there already.
  bool add(Hash hash);
  void add(std::span<const Hash> hashes) { view_.probe().add(hashes, cells()); }

  // Takes one occurrence of a key out. Returns false, with nothing changed, when the key is
  // certainly absent. REQUIRES: kind counting.
  bool remove(Hash hash);

  // Says what the filter is sized for from now on: see Header.
  void set_target(std::uint64_t capacity, double fpr);

  const FilterView& view() const { return view_; }
  const Header& header() const { return view_.header(); }
  const Shape& shape() const { return view_.shape(); }
  bool may_contain(Hash hash) const { return view_.may_contain(hash); }

  // Header and cells, as they are stored.
  ByteView stored() const {
    return {bytes_.get(), static_cast<std::size_t>(stored_bytes(shape()))};
  }
  std::uint8_t* cells() { return bytes_.get() + kHeaderBytes; }

  // Gives the stored bytes away; the filter must not be used after that.
  OwnedBytes release() { return std::move(bytes_); }

 private:
  OwnedBytes bytes_;
  FilterView view_;  // of bytes_, which stay where they are when the filter is moved
};

}  // namespace bloom
