#include "core/operations/totals.h"

#include <cstddef>

namespace bloom {

std::uint64_t total_cells(std::span<const Header> layers) {
  std::uint64_t cells = 0;
  for (const Header& layer : layers) {
    cells += layer.shape.cells;
  }
  return cells;
}

std::uint64_t total_bytes(std::span<const Header> layers) {
  std::uint64_t bytes = 0;
  for (const Header& layer : layers) {
    bytes += stored_bytes(layer.shape);
  }
  return bytes;
}

std::uint64_t total_capacity(std::span<const Header> layers) {
  std::uint64_t capacity = 0;
  for (const Header& layer : layers) {
    capacity += layer.capacity;
  }
  return capacity;
}

Estimate total_estimate(std::span<const Header> layers, std::span<const Estimate> estimates) {
  Estimate total;
  double used = 0;
  double cells = 0;
  double none = 1;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto size = static_cast<double>(layers[i].shape.cells);
    used += estimates[i].fill * size;
    cells += size;
    total.keys += estimates[i].keys;
    total.keys_known = total.keys_known && estimates[i].keys_known;
    none *= 1 - estimates[i].fpr;
    total.saturated += estimates[i].saturated;
  }
  total.fill = used / cells;
  total.fpr = layers.size() == 1 ? estimates.front().fpr : 1 - none;
  return total;
}

bool is_overfull(std::span<const Header> layers, std::span<const Estimate> estimates) {
  return is_overfull(layers.back(), estimates.back());
}

}  // namespace bloom
