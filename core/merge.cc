#include "core/merge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace bloom {
namespace {

// What a shape becomes when it is halved until it has at most `cells` cells or cannot go on.
Shape halved_down_to(Shape shape, std::uint64_t cells) {
  while (shape.cells > cells && fold_of(shape) != Fold::none) {
    shape = halved(shape);
  }
  return shape;
}

Filter folded_to(const FilterView& f, const Shape& goal) {
  Filter folded(f);
  while (folded.shape() != goal) {
    folded = halve(folded.view());
  }
  return folded;
}

[[noreturn]] void refuse_other(std::string_view subject, const std::string& wanted,
                               const std::string& got) {
  refuse(subject, "a filter with " + wanted + ", as the one before it", got);
}

void require_same(std::string_view subject, const char* name, std::uint64_t wanted,
                  std::uint64_t got) {
  if (wanted != got) {
    refuse_other(subject, name + std::to_string(wanted), name + std::to_string(got));
  }
}

std::string size_in_words(const Shape& shape) {
  return "m = " + std::to_string(shape.cells) + " and block = " + std::to_string(shape.block);
}

void require_mergeable(const Shape& f, const Shape& g, std::string_view subject) {
  if (f.kind != g.kind) {
    refuse_other(subject, "kind " + std::string(name_of(f.kind)),
                 "kind " + std::string(name_of(g.kind)));
  }
  require_same(subject, "k = ", f.hashes, g.hashes);
  require_same(subject, "seed = ", f.seed, g.seed);
  const Shape& large = f.cells > g.cells ? f : g;
  const Shape& small = f.cells > g.cells ? g : f;
  if (halved_down_to(large, small.cells) != small) {
    refuse_other(subject, size_in_words(f) + " (or that halved or doubled some times)",
                 size_in_words(g));
  }
}

using MergeCells = void (*)(Kind, std::uint8_t*, const std::uint8_t*, std::uint64_t);

Filter merge(Filter f, const FilterView& g, std::string_view subject, MergeCells merge_cells) {
  require_mergeable(f.shape(), g.shape(), subject);
  if (f.shape().cells < g.shape().cells) {
    const Filter smaller = folded_to(g, f.shape());
    return merge(std::move(f), smaller.view(), subject, merge_cells);
  }
  if (f.shape().cells > g.shape().cells) {
    f = folded_to(f.view(), g.shape());
  }
  merge_cells(f.shape().kind, f.cells(), g.cells(), cell_bytes(f.shape()));

  const Header& a = f.header();
  const Header& b = g.header();
  const bool known = a.capacity != 0 && b.capacity != 0;
  f.set_target(std::min(a.capacity, b.capacity), known ? std::max(a.fpr, b.fpr) : 0);
  return f;
}

}  // namespace

Filter unite(Filter f, const FilterView& g, std::string_view subject) {
  return merge(std::move(f), g, subject, unite_cells);
}

Filter intersect(Filter f, const FilterView& g, std::string_view subject) {
  return merge(std::move(f), g, subject, intersect_cells);
}

unsigned times_halvable(Shape shape) {
  unsigned times = 0;
  for (; fold_of(shape) != Fold::none; ++times) {
    shape = halved(shape);
  }
  return times;
}

Filter halve(const FilterView& f) {
  Header header = f.header();
  header.shape = halved(header.shape);
  if (header.capacity != 0) {
    header.capacity = std::max<std::uint64_t>(1, header.capacity / 2);
  }
  Filter half(header);
  fold_cells(f.shape(), half.cells(), f.cells());
  return half;
}

Filter to_standard(const FilterView& f, std::string_view subject) {
  if (f.shape().kind == Kind::standard) {
    return Filter(f);
  }
  if (f.shape().kind != Kind::counting) {
    refuse(subject, "a counting filter", "a " + std::string(name_of(f.shape().kind)) + " one");
  }
  Header header = f.header();
  header.shape.kind = Kind::standard;
  Filter bits(header);
  bits_of_counters(bits.cells(), f.cells(), header.shape.cells);
  return bits;
}

}  // namespace bloom
