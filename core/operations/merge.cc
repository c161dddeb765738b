#include "core/operations/merge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/layout/halving.h"
#include "core/layout/shape.h"
#include "core/support/error.h"

namespace bloom {
namespace {

// Returns `shape` halved until it has at most `cells` cells or cannot be halved further.
Shape halved_down_to(Shape shape, std::uint64_t cells) {
  while (shape.cells > cells && fold_of(shape) != Fold::none) {
    shape = halved(shape);
  }
  return shape;
}

Filter folded_to(const FilterView& f, const Shape& goal, const InterruptCheck& check_interrupt) {
  Filter folded(f, check_interrupt);
  while (folded.shape() != goal) {
    folded = halve(folded.view(), check_interrupt);
  }
  return folded;
}

// The names of two filters in error messages about merging them. g is the filter that does not
// match f.
struct Names {
  std::string_view g;
  std::string_view f;

  [[noreturn]] void refuse_other(const std::string& wanted, const std::string& got) const {
    refuse(g, std::string("a filter with ").append(wanted).append(", as ").append(f), got);
  }
  void require_same(const char* what, std::uint64_t wanted, std::uint64_t got) const {
    if (wanted != got) {
      refuse_other(what + std::to_string(wanted), what + std::to_string(got));
    }
  }
};

std::string size_in_words(const Shape& shape) {
  return "m = " + std::to_string(shape.cells) + " and block = " + std::to_string(shape.block);
}

void require_alike(const Shape& f, const Shape& g, const Names& names) {
  if (f.kind != g.kind) {
    names.refuse_other("kind " + std::string(name_of(f.kind)),
                       "kind " + std::string(name_of(g.kind)));
  }
  names.require_same("k = ", f.hashes, g.hashes);
  names.require_same("seed = ", f.seed, g.seed);
  if (f.collation != g.collation) {
    names.refuse_other("collation " + std::string(name_of(f.collation)),
                       "collation " + std::string(name_of(g.collation)));
  }
}

void require_mergeable(const Shape& f, const Shape& g, std::string_view subject) {
  const Names names{.g = subject, .f = "the one before it"};
  require_alike(f, g, names);
  const Shape& large = f.cells > g.cells ? f : g;
  const Shape& small = f.cells > g.cells ? g : f;
  if (halved_down_to(large, small.cells) != small) {
    names.refuse_other(size_in_words(f) + " (or that halved or doubled some times)",
                       size_in_words(g));
  }
}

using MergeCells = void (*)(Kind, std::uint8_t*, const std::uint8_t*, std::uint64_t);

Filter merge(Filter f, const FilterView& g, std::string_view subject,
             const InterruptCheck& check_interrupt, MergeCells merge_cells) {
  require_mergeable(f.shape(), g.shape(), subject);
  if (f.shape().cells < g.shape().cells) {
    const Filter smaller = folded_to(g, f.shape(), check_interrupt);
    return merge(std::move(f), smaller.view(), subject, check_interrupt, merge_cells);
  }
  if (f.shape().cells > g.shape().cells) {
    f = folded_to(f.view(), g.shape(), check_interrupt);
  }
  for_each_slice(cell_bytes(f.shape()), kSliceBytes, check_interrupt, [&](auto first, auto bytes) {
    merge_cells(f.shape().kind, f.cells() + first, g.cells() + first, bytes);
  });

  const Header& a = f.header();
  const Header& b = g.header();
  const bool known = a.capacity != 0 && b.capacity != 0;
  f.set_target(std::min(a.capacity, b.capacity), known ? std::max(a.fpr, b.fpr) : 0);
  return f;
}

}  // namespace

Filter make_union(Filter f, const FilterView& g, std::string_view subject,
                  const InterruptCheck& check_interrupt) {
  return merge(std::move(f), g, subject, check_interrupt, union_cells);
}

Filter make_intersection(Filter f, const FilterView& g, std::string_view subject,
                         const InterruptCheck& check_interrupt) {
  return merge(std::move(f), g, subject, check_interrupt, intersect_cells);
}

Filter halved_to_match(const FilterView& g, const Shape& goal, std::string_view subject,
                       std::string_view goal_name, const InterruptCheck& check_interrupt) {
  const Names names{.g = subject, .f = goal_name};
  require_alike(goal, g.shape(), names);
  if (halved_down_to(g.shape(), goal.cells) != goal) {
    names.refuse_other(size_in_words(goal) + " (or that doubled some times)",
                       size_in_words(g.shape()));
  }
  return folded_to(g, goal, check_interrupt);
}

unsigned times_halvable(Shape shape) {
  unsigned times = 0;
  for (; fold_of(shape) != Fold::none; ++times) {
    shape = halved(shape);
  }
  return times;
}

void require_halvable(const Shape& shape, std::string_view subject) {
  if (fold_of(shape) == Fold::none) {
    std::string shape_in_words = std::to_string(shape.blocks());
    shape_in_words.append(" of ").append(std::to_string(shape.span())).append(" cells");
    refuse(subject, "a filter with an even number of blocks, or of cells in each block or slice",
           shape_in_words);
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
  for_each_slice(half.shape().cells, kSliceBits, check_interrupt, [&](auto first, auto count) {
    fold_cells(f.shape(), half.cells(), f.cells(), first, count);
  });
  return half;
}

Filter to_standard(const FilterView& f, std::string_view subject,
                   const InterruptCheck& check_interrupt) {
  if (f.shape().kind == Kind::standard) {
    return Filter(f, check_interrupt);
  }
  if (f.shape().kind != Kind::counting) {
    refuse(subject, "a counting filter", "a " + std::string(name_of(f.shape().kind)) + " one");
  }
  Header header = f.header();
  header.shape.kind = Kind::standard;
  Filter bits(header);
  for_each_slice(header.shape.cells, kSliceBits, check_interrupt, [&](auto first, auto count) {
    bits_of_counters(bits.cells() + first / 8, f.cells() + first / 2, count);
  });
  return bits;
}

}  // namespace bloom
