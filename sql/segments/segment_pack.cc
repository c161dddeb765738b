// Moves the filters of a table together, so that no segment has free slots.
#include <bit>
#include <cassert>

#include "sql/segments/segment_store.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::Statement;

// Returns the bits of `word` at the positions that are set in `from`, without gaps.
FilterSet gather(FilterSet word, FilterSet from) {
  FilterSet bits = 0;
  for (unsigned i = 0; word != 0 && from != 0; from &= from - 1, ++i) {
    bits |= (word >> static_cast<unsigned>(std::countr_zero(from)) & 1U) << i;
  }
  return bits;
}

// Appends filters of chunks to new chunks, and passes on each new chunk that has kSegmentFilters.
class ChunkPacker {
 public:
  using Use = std::function<void(std::uint64_t segment, std::span<const std::uint8_t> chunk)>;
  explicit ChunkPacker(Use use) : use_(std::move(use)) {}

  void add(const std::uint8_t* chunk, FilterSet live) {
    const auto count = static_cast<unsigned>(std::popcount(live));
    const bool completes = filled_ + count >= kSegmentFilters;
    std::array<FilterSet, kSegmentBlock> rest;  // what the next chunk gets
    for (std::size_t p = 0; p < kSegmentBlock; ++p) {
      const FilterSet bits = gather(load_le<FilterSet>(chunk + p * sizeof(FilterSet)), live);
      std::uint8_t* const word = chunk_.data() + p * sizeof(FilterSet);
      store_le(word, load_le<FilterSet>(word) | bits << filled_);
      rest[p] = filled_ == 0 ? 0 : bits >> (kSegmentFilters - filled_);
    }
    filled_ += count;
    if (completes) {
      const unsigned more = filled_ - kSegmentFilters;
      flush();
      filled_ = more;
      for (std::size_t p = 0; p < kSegmentBlock; ++p) {
        store_le(chunk_.data() + p * sizeof(FilterSet), rest[p]);
      }
    }
  }
  // Passes on the last chunk, which may have free slots.
  void flush() {
    if (filled_ != 0) {
      use_(segment_++, chunk_);
      chunk_.fill(0);
      filled_ = 0;
    }
  }

 private:
  Use use_;
  std::uint64_t segment_ = 0;
  unsigned filled_ = 0;  // filters in chunk_
  std::array<std::uint8_t, kChunkBytes> chunk_{};
};

}  // namespace

// A new chunk is written when all filters in it have been read, and its segment is not behind
// theirs. So it replaces only chunks that are not needed any more.
void SegmentStore::pack(const SegmentConfig& config, std::span<const FilterSet> live) {
  assert(live.size() == config.segments);
  ++writes_;
  const Statement replace = tables_.statement("REPLACE INTO {data} VALUES (?1, ?2)");
  const Statement erase = tables_.statement("DELETE FROM {data} WHERE id >= ?1 AND id < ?2");
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    std::uint64_t end = 0;
    ChunkPacker packer([&](std::uint64_t segment, std::span<const std::uint8_t> chunk) {
      Execution(replace).bind(1, as_integer(chunk_id(i, segment))).bind(2, chunk).step();
      end = segment + 1;
    });
    for_each_chunk_in(config, {0, config.segments}, i,
                      [&](std::uint64_t segment, const std::uint8_t* chunk) {
                        packer.add(chunk, live[as_size(segment)]);
                      });
    packer.flush();
    Execution(erase)
        .bind(1, as_integer(chunk_id(i, end)))
        .bind(2, as_integer(chunk_id(i, config.segments)))
        .step();
  }
  erase_family("DELETE FROM {wide} WHERE id >> ?1 = ?2");
}

void SegmentStore::drop_from(const SegmentConfig& config, std::uint64_t first) {
  assert(first >= config.wide_segments);
  ++writes_;
  const Statement erase = tables_.statement("DELETE FROM {data} WHERE id >= ?1 AND id < ?2");
  for (std::uint64_t i = 0; i < config.chunks_per_segment(); ++i) {
    Execution(erase)
        .bind(1, as_integer(chunk_id(i, first)))
        .bind(2, as_integer(chunk_id(i, config.segments)))
        .step();
  }
}

void SegmentStore::clear() {
  ++writes_;
  erase_family("DELETE FROM {data} WHERE id >> ?1 = ?2");
  erase_family("DELETE FROM {wide} WHERE id >> ?1 = ?2");
}

void SegmentStore::erase_family(const char* sql) {
  const Statement erase = tables_.statement(sql);
  Execution(erase)
      .bind(1, std::int64_t{kFamilyShift})
      .bind(2, as_integer(first_id_ >> kFamilyShift))
      .step();
}

}  // namespace bloom
