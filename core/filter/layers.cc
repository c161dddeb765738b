#include "core/filter/layers.h"

#include <algorithm>

#include "core/layout/chunk_layout.h"

namespace bloom {

void Layers::append(const Header& header) {
  layers_.push_back({header, chunk_count_});
  chunk_count_ += bloom::chunk_count(header.shape);
}

std::vector<Header> Layers::headers() const {
  std::vector<Header> headers;
  for (const Layer& layer : layers_) {
    headers.push_back(layer.header);
  }
  return headers;
}

const Layers::Layer& Layers::layer_of(std::uint64_t i) const {
  return *std::prev(
      std::upper_bound(layers_.begin(), layers_.end(), i,
                       [](std::uint64_t chunk, const Layer& l) { return chunk < l.first_chunk; }));
}

std::size_t Layers::chunk_bytes(std::uint64_t i) const {
  const Layer& layer = layer_of(i);
  return bloom::chunk_bytes(layer.header.shape, i - layer.first_chunk);
}

}  // namespace bloom
