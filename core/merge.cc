#include "core/merge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace bloom {
namespace {

std::string in_words(const Shape& shape) {
  std::string words(name_of(shape.kind));
  words.append(", m = ").append(std::to_string(shape.cells));
  words.append(", k = ").append(std::to_string(shape.hashes));
  words.append(", block = ").append(std::to_string(shape.block));
  words.append(", seed = ").append(std::to_string(shape.seed));
  return words;
}

// What a shape becomes when it is halved until it has at most `cells` cells or cannot go on.
Shape halved_down_to(Shape shape, std::uint64_t cells) {
  while (shape.cells > cells && fold_of(shape) != Fold::none) {
    shape = halved(shape);
  }
  return shape;
}

Filter folded_to(const FilterView& f, const Shape& goal, std::string_view subject) {
  Filter folded(f);
  while (folded.shape() != goal) {
    folded = halve(folded.view(), subject);
  }
  return folded;
}

void require_mergeable(const Shape& f, const Shape& g, std::string_view subject) {
  const Shape& large = f.cells > g.cells ? f : g;
  const Shape& small = f.cells > g.cells ? g : f;
  if (halved_down_to(large, small.cells) != small) {
    refuse(subject,
           "of the same kind, k, block and seed as the filter before it, and of its size or that "
           "halved or doubled some times (" +
               in_words(f) + ")",
           in_words(g));
  }
}

using MergeCells = void (*)(Kind, std::uint8_t*, const std::uint8_t*, std::uint64_t);

Filter merge(Filter f, const FilterView& g, std::string_view subject, MergeCells merge_cells) {
  require_mergeable(f.shape(), g.shape(), subject);
  if (f.shape().cells < g.shape().cells) {
    return merge(std::move(f), folded_to(g, f.shape(), subject).view(), subject, merge_cells);
  }
  if (f.shape().cells > g.shape().cells) {
    f = folded_to(f.view(), g.shape(), subject);
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

Filter halve(const FilterView& f, std::string_view subject) {
  const Shape& shape = f.shape();
  if (fold_of(shape) == Fold::none) {
    const bool sliced = shape.kind == Kind::partitioned;
    refuse(subject,
           sliced ? "a filter with an even number of blocks, or of cells in each slice"
                  : "a filter with an even number of blocks, or of cells in each block",
           std::to_string(shape.blocks()) + (shape.blocks() == 1 ? " block" : " blocks") + " of " +
               std::to_string(shape.block_cells()) + " cells" +
               (sliced ? " in " + std::to_string(shape.hashes) + " slices" : ""));
  }
  Header header = f.header();
  header.shape = halved(shape);
  if (header.capacity != 0) {
    header.capacity = std::max<std::uint64_t>(1, header.capacity / 2);
  }
  Filter half(header);
  fold_cells(shape, half.cells(), f.cells());
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
