#include "core/operations/merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/layout/halving.h"
#include "core/layout/shape.h"
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

// Refuses a filter that is not compatible with another one. The members are the names of the
// refused filter and of the other one in the message.
struct CompatibilityCheck {
  std::string_view subject;
  std::string_view reference;

  [[noreturn]] void refuse_mismatch(const std::string& wanted, const std::string& got) const {
    refuse(subject, std::string("a filter with ").append(wanted).append(", as ").append(reference),
           got);
  }
  void require_equal(const char* what, std::uint64_t wanted, std::uint64_t got) const {
    if (wanted != got) {
      refuse_mismatch(what + std::to_string(wanted), what + std::to_string(got));
    }
  }
  // Requires all parameters except the sizes to be equal.
  void require_same_hashing(const Shape& wanted, const Shape& got) const {
    if (wanted.kind != got.kind) {
      refuse_mismatch("kind " + std::string(name_of(wanted.kind)),
                      "kind " + std::string(name_of(got.kind)));
    }
    require_equal("k = ", wanted.hashes, got.hashes);
    require_equal("seed = ", wanted.seed, got.seed);
    if (wanted.collation != got.collation) {
      refuse_mismatch("collation " + std::string(name_of(wanted.collation)),
                      "collation " + std::string(name_of(got.collation)));
    }
  }
};

std::string size_in_words(const Shape& shape) {
  return "m = " + std::to_string(shape.cells) + " and block = " + std::to_string(shape.block);
}

void require_mergeable(const Shape& f, const Shape& g, std::string_view subject) {
  const CompatibilityCheck check{.subject = subject, .reference = "the one before it"};
  check.require_same_hashing(f, g);
  const Shape& large = f.cells > g.cells ? f : g;
  const Shape& small = f.cells > g.cells ? g : f;
  if (halved_down_to(large, small.cells) != small) {
    check.refuse_mismatch(size_in_words(f) + " (or that halved or doubled some times)",
                          size_in_words(g));
  }
}

using MergeCells = void (*)(Kind, std::uint8_t*, const std::uint8_t*, std::uint64_t);

Filter merge(Filter f, const FilterView& g, std::string_view subject,
             const InterruptCheck& check_interrupt, MergeCells merge_cells) {
  require_mergeable(f.shape(), g.shape(), subject);
  if (f.shape().cells < g.shape().cells) {
    const Filter smaller = halve_until(g, f.shape(), check_interrupt);
    return merge(std::move(f), smaller.view(), subject, check_interrupt, merge_cells);
  }
  if (f.shape().cells > g.shape().cells) {
    f = halve_until(f.view(), g.shape(), check_interrupt);
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

bool is_neutral(const FilterView& f) {
  const std::span cells(f.cells(), static_cast<std::size_t>(cell_bytes(f.shape())));
  return f.header().capacity == 1 &&
         std::all_of(cells.begin(), cells.end(), [](std::uint8_t byte) { return byte == 0; });
}

Filter make_union(Filter f, const FilterView& g, std::string_view subject,
                  const InterruptCheck& check_interrupt) {
  if (is_neutral(g)) {
    return f;
  }
  if (is_neutral(f.view())) {
    return Filter(g, check_interrupt);
  }
  return merge(std::move(f), g, subject, check_interrupt, union_cells);
}

Filter make_intersection(Filter f, const FilterView& g, std::string_view subject,
                         const InterruptCheck& check_interrupt) {
  if (is_neutral(g)) {
    return Filter(f.header());
  }
  if (is_neutral(f.view())) {
    return Filter(g.header());
  }
  return merge(std::move(f), g, subject, check_interrupt, intersect_cells);
}

Filter halved_to_match(const FilterView& g, const Shape& goal, std::string_view subject,
                       std::string_view goal_name, const InterruptCheck& check_interrupt) {
  const CompatibilityCheck check{.subject = subject, .reference = goal_name};
  check.require_same_hashing(goal, g.shape());
  if (halved_down_to(g.shape(), goal.cells) != goal) {
    check.refuse_mismatch(size_in_words(goal) + " (or that doubled some times)",
                          size_in_words(g.shape()));
  }
  return halve_until(g, goal, check_interrupt);
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
    std::string shape_in_words = std::to_string(shape.blocks());
    shape_in_words.append(" of ").append(std::to_string(shape.probe_range())).append(" cells");
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
    refuse(subject, "a counting filter", "a " + std::string(name_of(f.shape().kind)) + " one");
  }
  Header header = f.header();
  header.shape.kind = Kind::standard;
  Filter bits(header);
  for_each_slice(header.shape.cells, kSliceBits, check_interrupt, [&](auto first, auto count) {
    counters_to_bits(bits.cells() + first / 8, f.cells() + first / 2, count);
  });
  return bits;
}

}  // namespace bloom
