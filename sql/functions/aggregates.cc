#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/operations/distinct.h"
#include "core/operations/merge.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/function.h"
#include "sql/values/arguments.h"
#include "sql/values/key.h"
#include "sql/values/results.h"

namespace bloom {
namespace {

constexpr std::size_t kPieceKeys = 1 << 12;

// bloom_build(key [, capacity [, fpr [, kind]]]) and bloom_build(key, filter). The options, or the
// filter, of the first row are used. Without a capacity the keys are collected, and finish() makes
// the filter when their number is known.
class Build {
 public:
  void step(Context& context, const Values& arguments) {
    if (!started_) {
      start(context, arguments);
      started_ = true;
    }
    const Key key(arguments[0]);
    refuse_filter_or_handle(key, arguments, 0);
    if (key.is_null()) {
      return;
    }
    pending_[pending_count_] = key.hash(shape_);
    if (++pending_count_ == pending_.size()) {
      add_pending(context.interrupt_check());
    }
  }

  void finish(Context& context) {
    add_pending(context.interrupt_check());
    if (!filter_) {
      build_from_collected(context);
    }
    return_filter(context, std::move(*filter_));
  }

 private:
  void start(Context& context, const Values& arguments) {
    if (arguments.size() > 1 && !is_number_or_text(arguments[1])) {
      if (const auto filter = aggregate_filter_argument(arguments, 1, context.interrupt_check())) {
        return continue_filter(context, arguments, *filter);
      }
    }
    fpr_ = arguments.size() > 2 ? fpr_argument(arguments[2], "fpr") : kDefaultFpr;
    kind_ = arguments.size() > 3 ? kind_argument(arguments[3]) : Kind::standard;
    if (arguments.size() > 1 && !arguments[1].is_null()) {
      const std::uint64_t capacity = integer_argument(arguments[1], "capacity", 1, kMaxKeys);
      filter_ = new_filter(context, size_filter(capacity, fpr_, kind_));
    }
  }

  static bool is_number_or_text(const Value& value) {
    return value.type() != SQLITE_BLOB && value.type() != SQLITE_NULL;
  }

  void continue_filter(Context& context, const Values& arguments, const FilterView& filter) {
    if (arguments.size() > 2) {
      refuse("the call", "bloom_build(key, filter), because the filter has its own fpr and kind",
             std::to_string(arguments.size()) + " arguments");
    }
    require_filter_within_limit(context, filter.shape());
    filter_.emplace(filter, context.interrupt_check());
    shape_ = filter.shape();
  }

  void add_pending(const InterruptCheck& check_interrupt) {
    const auto hashes = std::span(pending_).first(pending_count_);
    pending_count_ = 0;
    if (filter_) {
      filter_->add(hashes);
    } else {
      collected_.add(hashes, check_interrupt);
    }
  }

  void build_from_collected(Context& context) {
    const InterruptCheck check_interrupt = context.interrupt_check();
    const std::size_t n = collected_.finish(check_interrupt);
    filter_ = new_filter(context, size_filter(n == 0 ? 1 : n, fpr_, kind_));
    for_each_piece(n, kPieceKeys, check_interrupt, [&](auto first, auto count) {
      const auto hashes = collected_.hashes().subspan(first, count);
      filter_->add(hashes);
      if (kind_ == Kind::counting) {
        add_again(first, hashes);
      }
    });
  }

  // Adds each key again for every further time that it occurred.
  void add_again(std::size_t first, std::span<const Hash> hashes) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      for (unsigned t = collected_.times(first + i); t > 1; --t) {
        filter_->add(hashes[i]);
      }
    }
  }

  bool started_ = false;
  double fpr_ = kDefaultFpr;
  Kind kind_ = Kind::standard;
  Shape shape_;  // decides how keys are hashed
  // Keys are added in batches, which is faster: see Filter::add().
  std::array<Hash, 64> pending_;
  std::size_t pending_count_ = 0;
  DistinctHashes collected_;
  std::optional<Filter> filter_;
};

// bloom_union(filter), bloom_intersect(filter). NULL rows are skipped. The result is NULL if there
// was no filter.
template <Filter (*merge)(Filter, const FilterView&, std::string_view, const InterruptCheck&)>
class MergeAggregate {
 public:
  void step(Context& context, const Values& arguments) {
    const InterruptCheck check_interrupt = context.interrupt_check();
    const auto filter = aggregate_filter_argument(arguments, 0, check_interrupt);
    if (filter) {
      merged_ = merged_ ? merge(std::move(*merged_), *filter, argument_name(0), check_interrupt)
                        : Filter(*filter, check_interrupt);
    }
  }

  void finish(Context& context) {
    if (merged_) {
      return_filter(context, std::move(*merged_));
    }
  }

 private:
  std::optional<Filter> merged_;
};

constexpr sqlite::Signature kBuild[] = {
    {"bloom_build", 1}, {"bloom_build", 2}, {"bloom_build", 3}, {"bloom_build", 4}};
constexpr sqlite::Signature kUnion{"bloom_union", 1};
constexpr sqlite::Signature kIntersect{"bloom_intersect", 1};

}  // namespace

void add_aggregates(sqlite3* db) {
  sqlite::add_aggregate<MergeAggregate<make_union>>(db, kUnion);
  sqlite::add_aggregate<MergeAggregate<make_intersection>>(db, kIntersect);
  for (const sqlite::Signature& build : kBuild) {
    sqlite::add_aggregate<Build>(db, build);
  }
}

}  // namespace bloom
