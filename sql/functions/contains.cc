#include "sql/functions/cached_filter_argument.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/function.h"
#include "sql/values/arguments.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::Context;

// Lookups of one statement usually query the same filter, so the object caches it.
class Contains {
 public:
  void call(Context& context, const Values& arguments) {
    const FilterView& filter = filter_.read(arguments);
    const Key key(arguments[1]);
    refuse_filter_or_handle(key, arguments, 1);
    if (key.is_null()) {
      context.result_null();
    } else {
      context.result_bool(filter.may_contain(key.hash(filter.shape())));
    }
  }

 private:
  CachedFilterArgument filter_;
};

// AND (decisive: false) or OR (decisive: true) of the lookups, with NULL as in SQL. A lookup with
// the result `decisive` ends the evaluation. Without one the result is NULL if any key was NULL.
template <bool decisive>
class ContainsSeveral {
 public:
  void call(Context& context, const Values& arguments) {
    require_at_least(
        2, arguments,
        decisive ? "bloom_contains_any(filter, key, ...)" : "bloom_contains_all(filter, key, ...)");
    const FilterView& filter = filter_.read(arguments);
    bool any_null = false;
    for (int i = 1; i < arguments.size(); ++i) {
      const Key key(arguments[i]);
      refuse_filter_or_handle(key, arguments, i);
      if (key.is_null()) {
        any_null = true;
      } else if (filter.may_contain(key.hash(filter.shape())) == decisive) {
        context.result_bool(decisive);
        return;
      }
    }
    if (any_null) {
      context.result_null();
    } else {
      context.result_bool(!decisive);
    }
  }

 private:
  CachedFilterArgument filter_;
};

constexpr sqlite::Signature kContains{"bloom_contains", 2};
constexpr sqlite::Signature kContainsAll{"bloom_contains_all", sqlite::kAnyNumber};
constexpr sqlite::Signature kContainsAny{"bloom_contains_any", sqlite::kAnyNumber};

}  // namespace

void add_contains_functions(sqlite3* db) {
  sqlite::add_function<Contains>(db, kContains);
  sqlite::add_function<ContainsSeveral<false>>(db, kContainsAll);
  sqlite::add_function<ContainsSeveral<true>>(db, kContainsAny);
}

}  // namespace bloom
