#include <span>
#include <string>
#include <variant>

#include "core/filter/block512.h"
#include "core/operations/estimate.h"
#include "sql/arguments.h"
#include "sql/filter_functions.h"
#include "sql/info.h"

namespace bloom {
namespace {

void info(Context& context, const Values& arguments) {
  const FilterView filter = filter_argument(arguments, 0);
  context.text(info_json(filter.header(), estimate(filter, context.check())));
}

void count(Context& context, const Values& arguments) {
  const Estimate now = estimate(filter_argument(arguments, 0), context.check());
  context.integer(static_cast<std::int64_t>(rounded_keys(now)));
}

void fpr(Context& context, const Values& arguments) {
  context.real(estimate(filter_argument(arguments, 0), context.check()).fpr);
}

void check(Context& context, const Values& arguments) {
  if (arguments[0].type() != SQLITE_BLOB) {
    filter_argument(arguments, 0);  // bloom_open() has checked the handle's filter
    context.text("ok");
    return;
  }
  const auto opened = open_filter(arguments[0].blob());
  const auto* problem = std::get_if<Problem>(&opened);
  context.text(problem == nullptr ? std::string_view("ok") : std::string_view(problem->text));
}

void version(Context& context, const Values&) { context.text(BLOOM_VERSION); }

void debug(Context& context, const Values&) {
  std::string text = "sqlite-bloom " BLOOM_VERSION "\nhash: MurmurHash3_x64_128\nblock=512: ";
  text.append(block512_kernel().name).append("\nSQLite: built for " SQLITE_VERSION ", running ");
  text.append(sqlite3_libversion()).append("\ncompiler: " BLOOM_COMPILER);
  context.text(text);
}

constexpr sqlite::Scalar kFunctions[] = {
    {"bloom_info", info, 1},   {"bloom_count", count, 1}, {"bloom_fpr", fpr, 1},
    {"bloom_check", check, 1}, {"bloom_debug", debug, 0},
};

}  // namespace

constexpr sqlite::Scalar kVersion{"bloom_version", version, 0};

std::span<const sqlite::Scalar> inspect_functions() { return kFunctions; }

}  // namespace bloom
