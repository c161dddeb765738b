#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "core/estimate.h"
#include "core/key.h"
#include "sql/arguments.h"
#include "sql/functions.h"

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

std::uint64_t rounded(double keys) { return static_cast<std::uint64_t>(std::llround(keys)); }

std::string info_json(const FilterView& filter) {
  const Header& header = filter.header();
  const Shape& shape = header.shape;
  const Estimate now = estimate(filter);
  JsonObject json;
  json.add("kind", '"' + std::string(name_of(shape.kind)) + '"');
  json.add("cells", shape.cells);
  json.add("hashes", std::uint64_t{shape.hashes});
  json.add("block", shape.block);
  json.add("seed", std::uint64_t{shape.seed});
  json.add_if_known("capacity", header.capacity);
  json.add_if_known("target_fpr", header.fpr);
  json.add("fill", now.fill);
  json.add("keys", rounded(now.keys));
  json.add("fpr", now.fpr);
  json.add("bytes", stored_bytes(shape));
  json.add("overfull", overfull(header, now.keys));
  if (shape.kind == Kind::counting) {
    json.add("saturated", now.stuck);
  }
  return json.finish();
}

void info(Context& context, const Values& arguments) {
  context.text(info_json(filter_argument(arguments, 0)));
}

void count(Context& context, const Values& arguments) {
  const Estimate now = estimate(filter_argument(arguments, 0));
  context.integer(static_cast<std::int64_t>(rounded(now.keys)));
}

void fpr(Context& context, const Values& arguments) {
  context.real(estimate(filter_argument(arguments, 0)).fpr);
}

void check(Context& context, const Values& arguments) {
  if (arguments[0].type() != SQLITE_BLOB) {
    filter_argument(arguments, 0);  // a handle was checked when it was made
    context.text("ok");
    return;
  }
  const auto opened = open_filter(arguments[0].blob());
  const auto* problem = std::get_if<Problem>(&opened);
  context.text(problem == nullptr ? std::string_view("ok") : std::string_view(problem->text));
}

void version(Context& context, const Values&) { context.text(BLOOM_VERSION); }

void debug(Context& context, const Values&) {
  std::string text = "sqlite-bloom " BLOOM_VERSION "\nhash: MurmurHash3_x64_128 (";
  text.append(hash_implementation()).append(")\nSQLite: built for " SQLITE_VERSION ", running ");
  text.append(sqlite3_libversion()).append("\ncompiler: " BLOOM_COMPILER);
  context.text(text);
}

constexpr sqlite::Scalar kFunctions[] = {
    {"bloom_info", info, 1},   {"bloom_count", count, 1},     {"bloom_fpr", fpr, 1},
    {"bloom_check", check, 1}, {"bloom_version", version, 0}, {"bloom_debug", debug, 0},
};

}  // namespace

std::span<const sqlite::Scalar> inspect_functions() { return kFunctions; }

}  // namespace bloom
