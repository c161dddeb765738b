#include "sql/search_table/table_filter/table_filter_store.h"

#include <algorithm>

#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;

constexpr std::uint64_t kFirstChunkId = std::uint64_t{1} << 61U;
constexpr std::int64_t kLastId = (std::int64_t{1} << 62U) - 1;

std::string token_of(const KeyRule& column) {
  std::string token(" ");
  token.append(std::to_string(column.item)).append(":").append(name_of(column.collation));
  return token.append(" ");
}

}  // namespace

bool TableFilterConfig::has(const KeyRule& column) const {
  return column.by == SearchedBy::equal && columns.find(token_of(column)) != std::string::npos;
}

std::vector<KeyRule> TableFilterConfig::columns_of(const std::vector<KeyRule>& all) const {
  std::vector<KeyRule> own;
  std::copy_if(all.begin(), all.end(), std::back_inserter(own),
               [this](const KeyRule& column) { return has(column); });
  return own;
}

std::string TableFilterConfig::describe(const std::vector<KeyRule>& columns) {
  std::string text;
  for (const KeyRule& column : columns) {
    text += token_of(column);
  }
  return text;
}

void TableFilterStore::read(std::uint64_t i, std::span<std::uint8_t> cells) {
  Execution run(tables_.prepared("SELECT chunk FROM {data} WHERE id = ?1"));
  const bool found = run.bind(1, as_integer(kFirstChunkId + i)).step();
  if (!found || run.type(0) != SQLITE_BLOB || run.blob(0).size() != cells.size()) {
    throw_damaged("chunk " + std::to_string(i) +
                  " of the filter over the whole table must be a blob of " +
                  std::to_string(cells.size()) + " bytes");
  }
  const auto stored = run.blob(0);
  std::copy(stored.begin(), stored.end(), cells.begin());
}

void TableFilterStore::write(std::uint64_t i, std::span<const std::uint8_t> cells) {
  ++writes_;
  Execution(tables_.prepared("REPLACE INTO {data} VALUES (?1, ?2)"))
      .bind(1, as_integer(kFirstChunkId + i))
      .bind(2, cells)
      .step();
}

void TableFilterStore::clear() {
  ++writes_;
  Execution(tables_.prepared("DELETE FROM {data} WHERE id BETWEEN ?1 AND ?2"))
      .bind(1, as_integer(kFirstChunkId))
      .bind(2, kLastId)
      .step();
}

void TableFilterStore::check(const TableFilterConfig& config) {
  const std::uint64_t wanted = config.is_used() ? chunk_count(config.header.shape) : 0;
  Execution run(tables_.prepared("SELECT id FROM {data} WHERE id BETWEEN ?1 AND ?2"));
  const std::uint64_t found = run.bind(1, as_integer(kFirstChunkId)).bind(2, kLastId).count_rows();
  if (found != wanted) {
    throw_damaged("the filter over the whole table has " + std::to_string(found) +
                  " chunks instead of " + std::to_string(wanted));
  }
}

void TableFilterChunks::reset(const Shape& shape) {
  const std::uint64_t affordable = std::max<std::uint64_t>(available_memory() / 4 / kChunkBytes, 1);
  const std::uint64_t wanted = std::min({chunk_count(shape), kMostChunks, affordable});
  shape_ = shape;
  if (chunks_.size() != wanted) {
    chunks_.clear();
    cells_ = zeroed_bytes(wanted * kChunkBytes, Access::sparse);
  }
  chunks_.assign(as_size(wanted), kNone);
}

void TableFilterChunks::load(std::size_t place, std::uint64_t i) {
  chunks_[place] = kNone;
  store_.read(i, {cells_.get() + place * kChunkBytes, chunk_bytes(shape_, i)});
  chunks_[place] = i;
}

}  // namespace bloom
