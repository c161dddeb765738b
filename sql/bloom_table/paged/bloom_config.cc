#include "sql/bloom_table/paged/bloom_config.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/layout/format.h"
#include "core/sizing/growth.h"
#include "core/support/error.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

// A table has a version that older programs refuse if it has a feature that they would handle
// wrongly:
// - Change log: they would answer "absent" for keys that are only there.
// - Generations: they would add keys to the last layer, which is not always the newest.
// - Counted rows: they would delete rows without lowering the counts. Tables with counted rows have
//   the version of their other features plus kCountedRows.
// - Collations of parts: they would hash composite keys without them. Such tables count rows.
// - Rows in the row log: they would answer "absent" for keys that are only there. While there may
//   be such rows, which is within a transaction, kRowLogHasRows is added to the version.
constexpr std::int64_t kTableVersion = 1;
constexpr std::int64_t kTableVersionWithChangeLog = 2;
constexpr std::int64_t kTableVersionWithGenerations = 3;
constexpr std::int64_t kCountedRows = 3;
constexpr std::int64_t kTableVersionWithParts = 7;
constexpr std::int64_t kRowLogHasRows = 16;

std::int64_t without_row_log(std::int64_t version) {
  return version - (row_log_has_rows(version) ? kRowLogHasRows : 0);
}

std::int64_t version_without_row_log(const BloomConfig& config) {
  if (!config.parts.empty()) {
    return kTableVersionWithParts;
  }
  const std::int64_t counted = config.counts_rows ? kCountedRows : 0;
  if (config.layers.are_generations()) {
    return kTableVersionWithGenerations + counted;
  }
  return (config.has_change_log() ? kTableVersionWithChangeLog : kTableVersion) + counted;
}

}  // namespace

Layers parse_headers(ByteView bytes) {
  if (bytes.size() > kMaxLayers * kHeaderBytes) {
    throw_damaged("the config has more layers than " + std::to_string(kMaxLayers));
  }
  Layers layers;
  do {
    layers.append(header_in_config(bytes));
    const Shape& first = layers.oldest().header.shape;
    const Shape& shape = layers.newest().header.shape;
    if (shape.kind != first.kind || shape.seed != first.seed ||
        shape.collation != first.collation) {
      throw_damaged("the layers in the config differ in kind, seed or collation");
    }
    bytes = bytes.subspan(kHeaderBytes);
  } while (!bytes.empty());
  return layers;
}

Layers as_generations(const Layers& layers, std::optional<std::int64_t> newest) {
  const std::vector<Header> headers = layers.headers();
  if (std::adjacent_find(headers.begin(), headers.end(), std::not_equal_to<>()) != headers.end()) {
    throw_damaged("the generations in the config have different headers");
  }
  if (!newest || *newest < 0 || static_cast<std::uint64_t>(*newest) >= headers.size()) {
    throw_damaged("the config does not say which generation is the newest");
  }
  return Layers::generations(headers.front(), headers.size(), static_cast<std::size_t>(*newest));
}

std::int64_t version_of(const BloomConfig& config) {
  return version_without_row_log(config) + (config.row_log_has_rows ? kRowLogHasRows : 0);
}

void require_known(std::optional<std::int64_t> version) {
  if (!version) {
    throw_damaged("the config has no version");
  }
  const std::int64_t rest = without_row_log(*version);
  if (rest < kTableVersion || rest > kTableVersionWithParts) {
    throw Error(Error::Kind::invalid, "the table is of version " + std::to_string(*version) +
                                          ", which this build does not know");
  }
}

bool has_parts(std::int64_t version) { return without_row_log(version) == kTableVersionWithParts; }

bool counts_rows(std::int64_t version) { return without_row_log(version) > kCountedRows; }

bool has_generations(std::int64_t version) {
  return without_row_log(version) - (counts_rows(version) ? kCountedRows : 0) ==
         kTableVersionWithGenerations;
}

bool row_log_has_rows(std::int64_t version) { return version >= kRowLogHasRows; }

}  // namespace bloom
