#include "sql/values/info_json.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "core/hashing/key.h"
#include "core/operations/totals.h"
#include "core/sizing/prediction.h"

namespace bloom {
namespace {

// Returns a JSON string.
std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      json.append("\\u00").append(1, kHex[byte / 16]).append(1, kHex[byte % 16]);
    } else {
      json.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    }
  }
  return json.append("\"");
}

// Builds a JSON object member by member.
class JsonObject {
 public:
  void add(std::string_view name, std::string_view json) {
    text_.append(text_.size() > 1 ? ",\"" : "\"").append(name).append("\":").append(json);
  }
  void add(std::string_view name, const std::string& json) { add(name, std::string_view(json)); }
  void add(std::string_view name, std::uint64_t value) {
    add(name, NumberText(static_cast<std::int64_t>(value)).view());
  }
  void add(std::string_view name, double value) { add(name, NumberText(value).view()); }
  void add(std::string_view name, bool value) {
    add(name, std::string_view(value ? "true" : "false"));
  }
  void add(std::string_view name, std::optional<std::uint64_t> value) {
    value ? add(name, *value) : add(name, std::string_view("null"));
  }
  // Adds a number, or null if it is 0, which means unknown.
  template <typename Number>
  void add_if_known(std::string_view name, Number value) {
    value == 0 ? add(name, std::string_view("null")) : add(name, value);
  }
  std::string finish() { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

std::string names_json(const std::vector<std::string>& names) {
  std::string json;
  for (const std::string& name : names) {
    json.append(json.empty() ? "[" : ",").append(quoted(name));
  }
  return json + "]";
}

std::string layers_json(std::span<const Header> layers, std::span<const Estimate> estimates) {
  std::string json;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    JsonObject layer;
    layer.add("cells", layers[i].shape.cells);
    layer.add("hashes", std::uint64_t{layers[i].shape.hashes});
    layer.add("block", layers[i].shape.block);
    layer.add("capacity", layers[i].capacity);
    layer.add("target_fpr", layers[i].fpr);
    layer.add("fill", estimates[i].fill);
    layer.add("keys", rounded_keys(estimates[i]));
    layer.add("fpr", estimates[i].fpr);
    json.append(json.empty() ? "[" : ",").append(layer.finish());
  }
  return json + "]";
}

}  // namespace

std::optional<std::uint64_t> rounded_keys(const Estimate& estimate) {
  if (!estimate.keys_known) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::llround(estimate.keys));
}

std::string info_json(const Header& header, const Estimate& estimate) {
  return info_json(std::span(&header, 1), std::span(&estimate, 1), {});
}

std::string info_json(std::span<const Header> layers, std::span<const Estimate> estimates,
                      const TableInfo& table) {
  const Header& first = layers.front();
  const Shape& shape = first.shape;
  JsonObject json;
  json.add("kind", quoted(name_of(shape.kind)));
  json.add("cells", total_cells(layers));
  if (layers.size() == 1) {
    json.add("hashes", std::uint64_t{shape.hashes});
    json.add("block", shape.block);
  }
  json.add("seed", std::uint64_t{shape.seed});
  if (shape.collation != Collation::binary) {
    json.add("collate", quoted(name_of(shape.collation)));
  }
  const Estimate all = total_estimate(layers, estimates);
  json.add_if_known("capacity", total_capacity(layers));
  const bool lists_layers = !table.layers_name.empty();
  json.add_if_known("target_fpr", lists_layers ? table.total_fpr : first.fpr);
  json.add("fill", all.fill);
  json.add("keys", rounded_keys(all));
  json.add("fpr", fpr_of_either(all.fpr, table.pending_fpr));
  json.add("bytes", total_bytes(layers));
  json.add("overfull", is_overfull(layers, estimates));
  if (shape.kind == Kind::counting) {
    json.add("saturated", all.saturated);
  }
  if (lists_layers) {
    json.add(table.layers_name, layers_json(layers, estimates));
  }
  if (table.source) {
    json.add("source", quoted(*table.source));
    json.add("columns", names_json(table.columns));
    json.add("pending", table.pending);
  }
  return json.finish();
}

std::string groups_json(const Header& header, const GroupTotals& totals) {
  const Shape& shape = header.shape;
  JsonObject json;
  json.add("members", totals.members);
  json.add("capacity", header.capacity);
  json.add("target_fpr", header.fpr);
  json.add("false_members",
           static_cast<double>(totals.members) * predicted_fpr(shape, header.capacity));
  json.add("cells", shape.cells);
  json.add("hashes", std::uint64_t{shape.hashes});
  json.add("block", shape.block);
  json.add("seed", std::uint64_t{shape.seed});
  if (shape.collation != Collation::binary) {
    json.add("collate", quoted(name_of(shape.collation)));
  }
  json.add("segments", totals.segments);
  json.add("optimized_segments", totals.wide_segments);
  json.add("bytes", totals.segments * 64 * cell_bytes(shape));
  if (totals.source) {
    json.add("source", quoted(totals.source->table));
    json.add("member", quoted(totals.source->member));
    json.add("columns", names_json(totals.source->columns));
    json.add("pending", totals.source->pending);
  }
  return json.finish();
}

}  // namespace bloom
