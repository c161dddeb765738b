#include "core/operations/merge.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/hashing/key.h"
#include "core/layout/halving.h"
#include "core/layout/shape.h"
#include "core/sizing/formulas.h"
#include "core/support/error.h"

namespace bloom {
namespace {

// Returns `shape` halved until it has at most `cells` cells or cannot be halved further.
Shape halved_down_to(Shape shape, std::uint64_t cells) {
  while (shape.cells > cells && is_halvable(shape)) {
    shape = halved(shape);
  }
  return shape;
}

Filter halve_until(const FilterView& f, const Shape& goal, const InterruptCheck& check_interrupt) {
  Filter half(f, check_interrupt);
  while (half.shape() != goal) {
    half = halve(half.view(), check_interrupt);
  }
  return half;
}

// Returns what a filter was made for, and the geometry that follows from it.
std::string size_in_words(const Header& header) {
  const Shape& shape = header.shape;
  std::string text;
  if (header.capacity != 0) {
    text = "capacity " + std::to_string(header.capacity) + " at fpr ";
    text.append(NumberText(header.fpr).view()).append(" with ");
  }
  text.append("k = ").append(std::to_string(shape.hashes));
  text.append(", m = ").append(std::to_string(shape.cells));
  return text.append(" and block = ").append(std::to_string(shape.block));
}

// Refuses a filter that is not compatible with another one. The members are the names of the
// refused filter and of the other one in the message.
struct CompatibilityCheck {
  std::string_view subject;
  std::string_view reference;

  [[noreturn]] void refuse_mismatch(std::string_view got, std::string_view wanted,
                                    std::string_view remedy) const {
    std::string text(subject);
    text.append(" cannot be merged with ").append(reference).append(": it has ").append(got);
    text.append(", not ").append(wanted).append(" (").append(remedy).append(")");
    fail(text);
  }
  // Requires all parameters except the sizes and k to be equal.
  void require_same_hashing(const Shape& wanted, const Shape& got) const {
    if (wanted.kind != got.kind) {
      refuse_mismatch("kind " + std::string(name_of(got.kind)), name_of(wanted.kind),
                      "give both the same kind; bloom_standard() converts a counting filter");
    }
    if (wanted.seed != got.seed) {
      refuse_mismatch("seed " + std::to_string(got.seed), std::to_string(wanted.seed),
                      "give both the same seed");
    }
    if (wanted.collation != got.collation) {
      refuse_mismatch("collation " + std::string(name_of(got.collation)), name_of(wanted.collation),
                      "give both the same collation");
    }
  }
  // Also requires k to be equal, and the larger size to be the smaller one doubled some times.
  void require_mergeable(const Header& wanted, const Header& got) const {
    require_same_hashing(wanted.shape, got.shape);
    const bool is_larger = got.shape.cells > wanted.shape.cells;
    const Shape& large = is_larger ? got.shape : wanted.shape;
    const Shape& small = is_larger ? wanted.shape : got.shape;
    if (halved_down_to(large, small.cells) != small) {
      const bool same_size =
          got.capacity != 0 && got.capacity == wanted.capacity && got.fpr == wanted.fpr;
      refuse_mismatch(size_in_words(got), size_in_words(wanted),
                      std::string("give both the same ") +
                          (same_size ? "block" : "capacity and fpr") +
                          ", or build both with bloom_build(key, template) from one empty filter");
    }
  }
};

// Returns the filter of shape `goal` in which every cell is set that halving merges into a set cell
// of f. Requires: halving `goal` some times gives the shape of f.
Filter double_until(const FilterView& f, const Shape& goal, const InterruptCheck& check_interrupt) {
  if (f.shape() == goal) {
    return Filter(f, check_interrupt);
  }
  assert(f.shape().cells < goal.cells);
  const Shape half_shape = halved(goal);
  const Filter half = double_until(f, half_shape, check_interrupt);
  Header header = half.header();
  header.shape = goal;
  header.capacity = std::min(2 * header.capacity, kMaxKeys);
  Filter result(header);
  for_each_piece(half_shape.cells, kPieceBits, check_interrupt, [&](auto first, auto count) {
    double_cells(goal, result.cells(), half.view().cells(), first, count);
  });
  return result;
}

using MergeCells = void (*)(Kind, std::uint8_t*, const std::uint8_t*, std::uint64_t);

Filter merge(Filter f, const FilterView& g, std::string_view subject,
             const InterruptCheck& check_interrupt, MergeCells merge_cells) {
  const CompatibilityCheck check{.subject = subject, .reference = "the filter before it"};
  check.require_mergeable(f.header(), g.header());
  if (f.shape().cells > g.shape().cells) {
    const Filter doubled = double_until(g, f.shape(), check_interrupt);
    return merge(std::move(f), doubled.view(), subject, check_interrupt, merge_cells);
  }
  if (f.shape().cells < g.shape().cells) {
    f = double_until(f.view(), g.shape(), check_interrupt);
  }
  for_each_piece(cell_bytes(f.shape()), kPieceBytes, check_interrupt, [&](auto first, auto bytes) {
    merge_cells(f.shape().kind, f.cells() + first, g.cells() + first, bytes);
  });

  const Header& a = f.header();
  const Header& b = g.header();
  const bool known = a.capacity != 0 && b.capacity != 0;
  f.set_target(std::min(a.capacity, b.capacity), known ? std::max(a.fpr, b.fpr) : 0);
  return f;
}

}  // namespace

bool is_neutral(const FilterView& f, const InterruptCheck& check_interrupt) {
  bool is_empty = f.header().capacity == 1;
  for_each_piece(is_empty ? cell_bytes(f.shape()) : 0, kPieceBytes, check_interrupt,
                 [&](auto first, auto bytes) {
                   const std::span cells(f.cells() + first, static_cast<std::size_t>(bytes));
                   is_empty = is_empty && std::all_of(cells.begin(), cells.end(),
                                                      [](std::uint8_t byte) { return byte == 0; });
                 });
  return is_empty;
}

Filter make_union(Filter f, const FilterView& g, std::string_view subject,
                  const InterruptCheck& check_interrupt) {
  if (is_neutral(g, check_interrupt)) {
    return f;
  }
  if (is_neutral(f.view(), check_interrupt)) {
    return Filter(g, check_interrupt);
  }
  return merge(std::move(f), g, subject, check_interrupt, union_cells);
}

Filter make_intersection(Filter f, const FilterView& g, std::string_view subject,
                         const InterruptCheck& check_interrupt) {
  if (is_neutral(g, check_interrupt)) {
    return Filter(f.header());
  }
  if (is_neutral(f.view(), check_interrupt)) {
    return Filter(g.header());
  }
  return merge(std::move(f), g, subject, check_interrupt, intersect_cells);
}

Filter resized_to_match(const FilterView& g, const Header& goal, std::string_view subject,
                        std::string_view goal_name, const InterruptCheck& check_interrupt) {
  const CompatibilityCheck check{.subject = subject, .reference = goal_name};
  check.require_mergeable(goal, g.header());
  return g.shape().cells < goal.shape.cells ? double_until(g, goal.shape, check_interrupt)
                                            : halve_until(g, goal.shape, check_interrupt);
}

unsigned times_halvable(Shape shape) {
  unsigned times = 0;
  for (; is_halvable(shape); ++times) {
    shape = halved(shape);
  }
  return times;
}

void require_halvable(const Shape& shape, std::string_view subject) {
  if (!is_halvable(shape)) {
    fail(std::string(subject) + " cannot be halved: the number of blocks (" +
         std::to_string(shape.blocks()) + ") and the number of cells per block or slice (" +
         std::to_string(shape.probe_range()) + ") are both odd");
  }
}

Header halved(const Header& header) {
  Header half = header;
  half.shape = halved(header.shape);
  if (header.capacity != 0) {
    half.capacity = std::max<std::uint64_t>(1, header.capacity / 2);
  }
  return half;
}

Filter halve(const FilterView& f, const InterruptCheck& check_interrupt) {
  Filter half(halved(f.header()));
  for_each_piece(half.shape().cells, kPieceBits, check_interrupt, [&](auto first, auto count) {
    halve_cells(f.shape(), half.cells(), f.cells(), first, count);
  });
  return half;
}

Filter to_standard(const FilterView& f, std::string_view subject,
                   const InterruptCheck& check_interrupt) {
  if (f.shape().kind == Kind::standard) {
    return Filter(f, check_interrupt);
  }
  if (f.shape().kind != Kind::counting) {
    refuse(subject, "a counting filter", "a " + std::string(name_of(f.shape().kind)) + " filter");
  }
  Header header = f.header();
  header.shape.kind = Kind::standard;
  Filter bits(header);
  for_each_piece(header.shape.cells, kPieceBits, check_interrupt, [&](auto first, auto count) {
    counters_to_bits(bits.cells() + first / 8, f.cells() + first / 2, count);
  });
  return bits;
}

}  // namespace bloom
