#include "core/sizing/formulas.h"

#include "core/sizing/prediction.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/function.h"
#include "sql/values/arguments.h"

namespace bloom {
namespace {

using sqlite::Context;

// As in SQLite's built-in math functions, NULL in any argument makes the result NULL.
bool any_null(const Values& arguments) {
  for (int i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_null()) {
      return true;
    }
  }
  return false;
}

std::uint64_t m_argument(const Value& value) { return integer_argument(value, "m", 1, kMaxCells); }
std::uint64_t n_argument(const Value& value, std::uint64_t low) {
  return integer_argument(value, "n", low, kMaxKeys);
}
std::uint32_t k_argument(const Value& value) {
  return static_cast<std::uint32_t>(integer_argument(value, "k", 1, kMaxHashes));
}

template <void (*body)(Context&, const Values&)>
void unless_null(Context& context, const Values& arguments) {
  if (any_null(arguments)) {
    context.result_null();
  } else {
    body(context, arguments);
  }
}

void bits(Context& context, const Values& arguments) {
  const std::uint64_t n = n_argument(arguments[0], 1);
  context.result_int64(static_cast<std::int64_t>(bits_for(n, fpr_argument(arguments[1], "p"))));
}

void hashes(Context& context, const Values& arguments) {
  const std::uint64_t m = m_argument(arguments[0]);
  context.result_int64(hashes_for(m, n_argument(arguments[1], 1)));
}

void rate(Context& context, const Values& arguments) {
  const std::uint64_t m = m_argument(arguments[0]);
  const std::uint64_t n = n_argument(arguments[1], 0);
  const std::uint32_t k = k_argument(arguments[2]);
  const Kind kind = arguments.size() > 3 ? kind_argument(arguments[3]) : Kind::standard;
  context.result_double(fpr_for(m, n, k, kind));
}

// bloom_rate() with five arguments: the rate of a real filter, which depends on its blocks. The
// textbook formula ignores blocks.
void rate_of_shape(Context& context, const Values& arguments) {
  Shape shape;
  shape.cells = m_argument(arguments[0]);
  const std::uint64_t n = n_argument(arguments[1], 0);
  shape.hashes = k_argument(arguments[2]);
  shape.kind = kind_argument(arguments[3]);
  shape.block = integer_argument(arguments[4], "block", 0, kMaxCells);
  require_valid(shape);
  context.result_double(predicted_fpr(shape, n));
}

void capacity(Context& context, const Values& arguments) {
  const std::uint64_t m = m_argument(arguments[0]);
  const std::uint32_t k = k_argument(arguments[1]);
  const double p = fpr_argument(arguments[2], "p");
  context.result_int64(static_cast<std::int64_t>(capacity_for(m, k, p)));
}

constexpr sqlite::ScalarFunction kFormulaFunctions[] = {
    {"bloom_bits", unless_null<bits>, 2},          {"bloom_hashes", unless_null<hashes>, 2},
    {"bloom_rate", unless_null<rate>, 3},          {"bloom_rate", unless_null<rate>, 4},
    {"bloom_rate", unless_null<rate_of_shape>, 5}, {"bloom_capacity", unless_null<capacity>, 3},
};

}  // namespace

void add_formula_functions(sqlite3* db) { sqlite::add_functions(db, kFormulaFunctions); }

}  // namespace bloom
