#include <optional>
#include <string>
#include <variant>

#include "core/filter/block512.h"
#include "core/operations/estimate.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/function.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"

namespace bloom {
namespace {

using sqlite::Context;

void info(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView filter = filter_argument(arguments, 0, check_interrupt);
  context.result_text(info_json(filter.header(), estimate(filter, check_interrupt)));
}

void count(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const Estimate now = estimate(filter_argument(arguments, 0, check_interrupt), check_interrupt);
  if (const auto keys = rounded_keys(now)) {
    context.result_int64(static_cast<std::int64_t>(*keys));
  }
}

void fpr(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView filter = filter_argument(arguments, 0, check_interrupt);
  context.result_double(estimate(filter, check_interrupt).fpr);
}

std::optional<Problem> problem_of(ByteView stored, const InterruptCheck& check_interrupt) {
  const auto opened = open_filter(stored);
  if (const auto* problem = std::get_if<Problem>(&opened)) {
    return *problem;
  }
  return find_damage(std::get<FilterView>(opened), check_interrupt);
}

void check(Context& context, const Values& arguments) {
  if (arguments[0].type() != SQLITE_BLOB) {
    filter_argument(arguments, 0);  // bloom_open() has checked the handle's filter
    context.result_text("ok");
    return;
  }
  const auto problem = problem_of(arguments[0].blob(), context.interrupt_check());
  context.result_text(problem ? std::string_view(problem->text) : "ok");
}

void version(Context& context, const Values&) { context.result_text(BLOOM_VERSION); }

void debug(Context& context, const Values&) {
  std::string text = "sqlite-bloom " BLOOM_VERSION "\nhash: MurmurHash3_x64_128\nblock=512: ";
  text.append(block512_kernel().name).append("\nSQLite: built for " SQLITE_VERSION ", running ");
  text.append(sqlite3_libversion()).append("\ncompiler: " BLOOM_COMPILER);
#ifdef BLOOM_COMMIT  // in packages
  text.append("\ncommit: " BLOOM_COMMIT);
#endif
  context.result_text(text);
}

constexpr sqlite::ScalarFunction kInspectFunctions[] = {
    {"bloom_info", info, 1},
    {"bloom_count", count, 1},
    {"bloom_fpr", fpr, 1},
    {"bloom_check", check, 1},
    {"bloom_debug", debug, 0, sqlite::kInnocuous},
};
constexpr sqlite::ScalarFunction kVersionFunction{"bloom_version", version, 0, sqlite::kInnocuous};

}  // namespace

void add_inspect_functions(sqlite3* db) { sqlite::add_functions(db, kInspectFunctions); }

void add_version_function(sqlite3* db) { sqlite::add_function(db, kVersionFunction); }

}  // namespace bloom
