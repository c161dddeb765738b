#include "core/probe.h"

#include <algorithm>
#include <array>

namespace bloom {
namespace {

// Enough keys for their cache misses to overlap, few enough for their lines to stay in the first
// cache until they are used.
constexpr std::size_t kKeysAtOnce = 32;
constexpr std::size_t kCellsAtOnce = kKeysAtOnce * 16;

// Calls f(i, first_of_k_cells) for each key i, when the cells of those after it are on their way.
template <typename F>
void for_each_key(const Geometry& geometry, std::span<const Hash> hashes, const std::uint8_t* cells,
                  unsigned cells_per_byte, F&& f) {
  const std::uint32_t k = geometry.hashes();
  const std::size_t at_once = std::clamp<std::size_t>(kCellsAtOnce / k, 1, kKeysAtOnce);
  std::array<std::uint64_t, std::max<std::size_t>(kCellsAtOnce, kMaxHashes)> found;
  for (std::size_t i = 0; i < hashes.size(); i += at_once) {
    const std::size_t end = std::min(i + at_once, hashes.size());
    std::uint64_t* to = found.data();
    for (std::size_t j = i; j < end; ++j) {
      auto walk = geometry.walk(hashes[j]);
      for (std::uint32_t h = 0; h < k; ++h) {
        *to = walk.next();
        prefetch(cells + *to++ / cells_per_byte);
      }
    }
    const std::uint64_t* from = found.data();
    for (std::size_t j = i; j < end; ++j, from += k) {
      f(j, from);
    }
  }
}

template <typename Cell>
void may_contain_all(const Geometry& geometry, std::span<const Hash> hashes,
                     const std::uint8_t* cells, std::uint8_t* answers) {
  for_each_key(geometry, hashes, cells, Cell::kPerByte, [&](std::size_t i, const auto* cell) {
    unsigned used = 1;
    for (std::uint32_t h = 0; h < geometry.hashes(); ++h) {
      used &= static_cast<unsigned>(Cell::get(cells, cell[h]) != 0);
    }
    answers[i] = static_cast<std::uint8_t>(used);
  });
}

template <typename Cell>
void add_all(const Geometry& geometry, std::span<const Hash> hashes, std::uint8_t* cells) {
  for_each_key(geometry, hashes, cells, Cell::kPerByte, [&](std::size_t, const auto* cell) {
    for (std::uint32_t h = 0; h < geometry.hashes(); ++h) {
      Cell::add(cells, cell[h]);
    }
  });
}

}  // namespace

void Probe::may_contain(std::span<const Hash> hashes, const std::uint8_t* cells,
                        std::uint8_t* answers) const {
  if (line_ != nullptr) {
    line_->may_contain_all(geometry_, hashes, cells, answers);
  } else if (kind_ == Kind::counting) {
    may_contain_all<Counters>(geometry_, hashes, cells, answers);
  } else {
    may_contain_all<Bits>(geometry_, hashes, cells, answers);
  }
}

void Probe::add(std::span<const Hash> hashes, std::uint8_t* cells) const {
  if (line_ != nullptr) {
    line_->add_all(geometry_, hashes, cells);
  } else if (kind_ == Kind::counting) {
    add_all<Counters>(geometry_, hashes, cells);
  } else {
    add_all<Bits>(geometry_, hashes, cells);
  }
}

}  // namespace bloom
