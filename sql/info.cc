#include "sql/info.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "core/key.h"

namespace bloom {
namespace {

// A JSON object, member by member.
class JsonObject {
 public:
  void add(std::string_view name, std::string_view json) {
    text_.append(text_.size() > 1 ? ",\"" : "\"").append(name).append("\":").append(json);
  }
  void add(std::string_view name, std::uint64_t value) {
    add(name, NumberText(static_cast<std::int64_t>(value)).view());
  }
  void add(std::string_view name, double value) { add(name, NumberText(value).view()); }
  void add(std::string_view name, bool value) {
    add(name, std::string_view(value ? "true" : "false"));
  }
  // A value that is not known when it is 0.
  template <typename Number>
  void add_if_known(std::string_view name, Number value) {
    value == 0 ? add(name, std::string_view("null")) : add(name, value);
  }
  std::string finish() { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace

std::uint64_t rounded_keys(const Estimate& estimate) {
  return static_cast<std::uint64_t>(std::llround(estimate.keys));
}

std::string info_json(const Header& header, const Estimate& now) {
  const Shape& shape = header.shape;
  JsonObject json;
  json.add("kind", '"' + std::string(name_of(shape.kind)) + '"');
  json.add("cells", shape.cells);
  json.add("hashes", std::uint64_t{shape.hashes});
  json.add("block", shape.block);
  json.add("seed", std::uint64_t{shape.seed});
  json.add_if_known("capacity", header.capacity);
  json.add_if_known("target_fpr", header.fpr);
  json.add("fill", now.fill);
  json.add("keys", rounded_keys(now));
  json.add("fpr", now.fpr);
  json.add("bytes", stored_bytes(shape));
  json.add("overfull", overfull(header, now.keys));
  if (shape.kind == Kind::counting) {
    json.add("saturated", now.stuck);
  }
  return json.finish();
}

}  // namespace bloom
