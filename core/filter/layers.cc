#include "core/filter/layers.h"

#include <algorithm>
#include <cassert>

#include "core/layout/chunk_layout.h"

namespace bloom {

Layers Layers::generations(const Header& each, std::size_t count, std::size_t newest) {
  assert(newest < count);
  Layers layers;
  for (std::size_t i = 0; i < count; ++i) {
    layers.append(each);
  }
  layers.newest_ = newest;
  layers.are_generations_ = true;
  return layers;
}

void Layers::append(const Header& header) {
  assert(!are_generations_);
  newest_ = layers_.size();
  layers_.push_back({header, chunk_count_});
  chunk_count_ += bloom::chunk_count(header.shape);
}

std::vector<Header> Layers::headers() const {
  std::vector<Header> headers;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    headers.push_back(layers_[index_from_oldest(i)].header);
  }
  return headers;
}

const Layers::Layer& Layers::layer_of(std::uint64_t i) const {
  assert(i < chunk_count_);
  return *std::prev(
      std::upper_bound(layers_.begin(), layers_.end(), i,
                       [](std::uint64_t chunk, const Layer& l) { return chunk < l.first_chunk; }));
}

std::size_t Layers::chunk_bytes(std::uint64_t i) const {
  const Layer& layer = layer_of(i);
  return bloom::chunk_bytes(layer.header.shape, i - layer.first_chunk);
}

}  // namespace bloom
