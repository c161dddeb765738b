#include <vector>

#include "core/operations/estimate.h"
#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/table_function.h"
#include "sql/values/arguments.h"
#include "sql/values/info_json.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::Context;

// The hidden columns are the arguments. Their names cannot be those of a column of a table: an
// argument such as `filter` or `key` would then be an ambiguous name.

// bloom_plan(n, p): for each kind that is possible, the filter that n keys need at a false-positive
// rate of p.
class SizingPlan {
 public:
  static constexpr char kName[] = "bloom_plan";
  static constexpr char kUsage[] = "the call must be bloom_plan(n, p)";
  static constexpr char kColumns[] =
      "CREATE TABLE x(kind TEXT, cells INTEGER, hashes INTEGER, block INTEGER, bytes INTEGER, "
      "fpr REAL, argument_1 HIDDEN, argument_2 HIDDEN)";
  static constexpr int kFirstArgument = 6;
  static constexpr int kArguments = 2;

  void start(const Values& arguments, const InterruptCheck&) {
    n_ = integer_argument(arguments[0], "n", 1, kMaxKeys);
    const double p = fpr_argument(arguments[1], "p");
    rows_.clear();
    row_ = 0;
    for (const Kind kind : kKinds) {
      if (const auto header = find_size(n_, p, kind)) {
        rows_.push_back(header->shape);
      }
    }
    if (rows_.empty()) {
      size_filter(n_, p, Kind::standard);  // throws the reason
    }
  }
  bool at_end() const noexcept { return row_ == rows_.size(); }
  void next() noexcept { ++row_; }
  void column(Context& context, int i) const noexcept {
    const Shape& shape = rows_[row_];
    switch (i) {
      case 0:
        return context.result_text(name_of(shape.kind));
      case 1:
        return context.result_int64(static_cast<std::int64_t>(shape.cells));
      case 2:
        return context.result_int64(shape.hashes);
      case 3:
        return context.result_int64(static_cast<std::int64_t>(shape.block));
      case 4:
        return context.result_int64(static_cast<std::int64_t>(stored_bytes(shape)));
      default:
        return context.result_double(predicted_fpr(shape, n_));
    }
  }

 private:
  std::uint64_t n_ = 0;
  std::vector<Shape> rows_;
  std::size_t row_ = 0;
};

// bloom_positions(filter, key): the cells of a key, and their values.
class Positions {
 public:
  static constexpr char kName[] = "bloom_positions";
  static constexpr char kUsage[] = "the call must be bloom_positions(filter, key)";
  static constexpr char kColumns[] =
      "CREATE TABLE x(i INTEGER, cell INTEGER, value INTEGER, argument_1 BLOB HIDDEN, "
      "argument_2 BLOB HIDDEN)";
  static constexpr int kFirstArgument = 3;
  static constexpr int kArguments = 2;

  void start(const Values& arguments, const InterruptCheck&) {
    rows_.clear();
    row_ = 0;
    const FilterView filter = unverified_filter_argument(arguments, 0);
    const Key key(arguments[1]);
    refuse_filter_or_handle(key, arguments, 1);
    if (!key.is_null()) {
      filter.geometry().for_each_cell(key.hash(filter.shape()), [&](std::uint64_t cell) {
        rows_.push_back({cell, filter.cell(cell)});
      });
    }
  }
  bool at_end() const noexcept { return row_ == rows_.size(); }
  void next() noexcept { ++row_; }
  void column(Context& context, int i) const noexcept {
    switch (i) {
      case 0:
        return context.result_int64(static_cast<std::int64_t>(row_));
      case 1:
        return context.result_int64(static_cast<std::int64_t>(rows_[row_].cell));
      default:
        return context.result_int64(rows_[row_].value);
    }
  }

 private:
  struct Row {
    std::uint64_t cell;
    unsigned value;
  };
  std::vector<Row> rows_;
  std::size_t row_ = 0;
};

// bloom_stats(filter): the members of bloom_info(filter) as columns.
class Stats {
 public:
  static constexpr char kName[] = "bloom_stats";
  static constexpr char kUsage[] = "the call must be bloom_stats(filter)";
  static constexpr char kColumns[] =
      "CREATE TABLE x(kind TEXT, cells INTEGER, hashes INTEGER, block INTEGER, seed INTEGER, "
      "collation TEXT, capacity INTEGER, target_fpr REAL, fill REAL, keys INTEGER, fpr REAL, "
      "bytes INTEGER, overfull INTEGER, saturated INTEGER, argument_1 HIDDEN)";
  static constexpr int kFirstArgument = 14;
  static constexpr int kArguments = 1;

  void start(const Values& arguments, const InterruptCheck& check_interrupt) {
    const FilterView filter = filter_argument(arguments, 0, check_interrupt);
    header_ = filter.header();
    now_ = estimate(filter, check_interrupt);
    at_end_ = false;
  }
  bool at_end() const noexcept { return at_end_; }
  void next() noexcept { at_end_ = true; }
  void column(Context& context, int i) const noexcept {
    const Shape& shape = header_.shape;
    const auto set_count = [&](std::uint64_t count) {
      context.result_int64(static_cast<std::int64_t>(count));
    };
    switch (i) {
      case 0:
        return context.result_text(name_of(shape.kind));
      case 1:
        return set_count(shape.cells);
      case 2:
        return set_count(shape.hashes);
      case 3:
        return set_count(shape.block);
      case 4:
        return set_count(shape.seed);
      case 5:
        return context.result_text(name_of(shape.collation));
      case 6:
        return header_.capacity == 0 ? context.result_null() : set_count(header_.capacity);
      case 7:
        return header_.fpr == 0 ? context.result_null() : context.result_double(header_.fpr);
      case 8:
        return context.result_double(now_.fill);
      case 9:
        if (const auto keys = rounded_keys(now_)) {
          set_count(*keys);
        }
        return;
      case 10:
        return context.result_double(now_.fpr);
      case 11:
        return set_count(stored_bytes(shape));
      case 12:
        return context.result_bool(is_overfull(header_, now_));
      default:
        return shape.kind == Kind::counting ? set_count(now_.saturated) : context.result_null();
    }
  }

 private:
  Header header_;
  Estimate now_;
  bool at_end_ = true;
};

}  // namespace

void add_table_functions(sqlite3* db) {
  sqlite::TableFunctionModule<SizingPlan>::add(db);
  sqlite::TableFunctionModule<Positions>::add(db);
  sqlite::TableFunctionModule<Stats>::add(db);
}

}  // namespace bloom
