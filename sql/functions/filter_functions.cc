#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "core/operations/delta.h"
#include "core/operations/fold.h"
#include "core/operations/merge.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/functions/functions.h"
#include "sql/sqlite/function.h"
#include "sql/values/arguments.h"
#include "sql/values/handles.h"
#include "sql/values/key.h"
#include "sql/values/results.h"

namespace bloom {
namespace {

using sqlite::kAnyNumber;
using sqlite::kInnocuous;
using sqlite::ScalarFunction;

void create(Context& context, const Values& arguments) {
  const std::uint64_t capacity = integer_argument(arguments[0], "capacity", 1, kMaxKeys);
  const double fpr = arguments.size() > 1 ? fpr_argument(arguments[1], "fpr") : kDefaultFpr;
  const Kind kind = arguments.size() > 2 ? kind_argument(arguments[2]) : Kind::standard;
  return_filter(context, new_filter(context, size_filter(capacity, fpr, kind)));
}

void create_sized(Context& context, const Values& arguments) {
  Header header;
  Shape& shape = header.shape;
  shape.cells = integer_argument(arguments[0], "m", 1, kMaxCells);
  shape.hashes = static_cast<std::uint32_t>(integer_argument(arguments[1], "k", 1, kMaxHashes));
  if (arguments.size() > 2) {
    shape.kind = kind_argument(arguments[2]);
  }
  if (arguments.size() > 3) {
    shape.block = integer_argument(arguments[3], "block", 0, kMaxCells);
  }
  if (arguments.size() > 4) {
    shape.seed = static_cast<std::uint32_t>(integer_argument(arguments[4], "seed", 0, kMaxSeed));
  }
  require_valid(shape);
  return_filter(context, new_filter(context, header));
}

void add(Context& context, const Values& arguments) {
  require_at_least(2, arguments, "bloom_add(filter, key, ...)");
  const InterruptCheck check_interrupt = context.interrupt_check();
  Filter filter(filter_argument(arguments, 0, check_interrupt), check_interrupt);
  for (int i = 1; i < arguments.size(); ++i) {
    const Key key(arguments[i]);
    refuse_filter_or_handle(key, arguments, i);
    if (!key.is_null()) {
      filter.add(key.hash(filter.shape()));
    }
  }
  return_filter(context, std::move(filter));
}

void remove(Context& context, const Values& arguments) {
  require_at_least(2, arguments, "bloom_remove(filter, key, ...)");
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView view = filter_argument(arguments, 0, check_interrupt);
  if (view.shape().kind != Kind::counting) {
    refuse("argument 1", "a counting filter (other kinds cannot remove keys)",
           "a " + std::string(name_of(view.shape().kind)) + " filter");
  }
  Filter filter(view, check_interrupt);
  for (int i = 1; i < arguments.size(); ++i) {
    const Key key(arguments[i]);
    refuse_filter_or_handle(key, arguments, i);
    if (!key.is_null() && !filter.remove(key.hash(filter.shape()))) {
      refuse(argument_name(i), "a key that was added",
             arguments[i].describe() + ", which is not in the filter");
    }
  }
  return_filter(context, std::move(filter));
}

using Merge = Filter (*)(Filter, const FilterView&, std::string_view, const InterruptCheck&);

void merge_all(Context& context, const Values& arguments, Merge merge) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  Filter merged(filter_argument(arguments, 0, check_interrupt), check_interrupt);
  for (int i = 1; i < arguments.size(); ++i) {
    merged = merge(std::move(merged), filter_argument(arguments, i, check_interrupt),
                   argument_name(i), check_interrupt);
  }
  return_filter(context, std::move(merged));
}

void union_of(Context& context, const Values& arguments) {
  require_at_least(2, arguments, "bloom_union(filter, filter, ...)");
  merge_all(context, arguments, make_union);
}

void intersection_of(Context& context, const Values& arguments) {
  require_at_least(2, arguments, "bloom_intersect(filter, filter, ...)");
  merge_all(context, arguments, make_intersection);
}

void halved_filter(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView view = filter_argument(arguments, 0, check_interrupt);
  if (arguments.size() == 1) {
    require_halvable(view.shape(), "argument 1");
  }
  const std::uint64_t most = times_halvable(view.shape());
  std::uint64_t times = arguments.size() > 1 ? integer_argument(arguments[1], "times", 0, most) : 1;
  Filter filter(view, check_interrupt);
  for (; times > 0; --times) {
    filter = halve(filter.view(), check_interrupt);
  }
  return_filter(context, std::move(filter));
}

void folded_filter(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView view = filter_argument(arguments, 0, check_interrupt);
  const double fpr = fpr_argument(arguments[1], "fpr");
  return_filter(context, fold(view, fpr, check_interrupt));
}

void standard_filter(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  return_filter(context, to_standard(filter_argument(arguments, 0, check_interrupt), "argument 1",
                                     check_interrupt));
}

void delta_of(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  StoredDelta change = make_delta(filter_argument(arguments, 0, check_interrupt),
                                  filter_argument(arguments, 1, check_interrupt), check_interrupt);
  require_within_limit(context, "the delta", change.size);
  context.result_blob(change.bytes.release(), change.size, free_bytes);
}

void apply_delta(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView before = filter_argument(arguments, 0, check_interrupt);
  const DeltaView change = delta_argument(arguments, 1);
  if (change.header) {
    require_filter_within_limit(context, change.header->shape);
  }
  auto applied = apply_delta(before, change, check_interrupt);
  if (const auto* problem = std::get_if<Problem>(&applied)) {
    refuse_delta(1, *problem);
  }
  return_filter(context, std::get<Filter>(std::move(applied)));
}

void composite_key(Context& context, const Values& arguments) {
  require_at_least(1, arguments, "bloom_key(value, ...)");
  CountedString composite;
  for (int i = 0; i < arguments.size(); ++i) {
    const Key part(arguments[i]);
    if (part.is_null()) {
      context.result_null();
      return;
    }
    append_part(composite, part.bytes());
    require_within_limit(context, "the composite key", composite.size());
  }
  context.result_blob(composite);
}

void open_handle(Context& context, const Values& arguments) {
  const InterruptCheck check_interrupt = context.interrupt_check();
  const FilterView view = filter_argument(arguments, 0, check_interrupt);
  return_handle(context, std::make_unique<const Filter>(view, check_interrupt));
}

constexpr ScalarFunction kFilterFunctions[] = {
    {"bloom_create", create, 1},
    {"bloom_create", create, 2},
    {"bloom_create", create, 3},
    {"bloom_create_sized", create_sized, 2},
    {"bloom_create_sized", create_sized, 3},
    {"bloom_create_sized", create_sized, 4},
    {"bloom_create_sized", create_sized, 5},
    {"bloom_add", add, kAnyNumber},
    {"bloom_remove", remove, kAnyNumber},
    {"bloom_union", union_of, kAnyNumber},
    {"bloom_intersect", intersection_of, kAnyNumber},
    {"bloom_halve", halved_filter, 1},
    {"bloom_halve", halved_filter, 2},
    {"bloom_fold", folded_filter, 2},
    {"bloom_standard", standard_filter, 1},
    {"bloom_delta", delta_of, 2},
    {"bloom_apply", apply_delta, 2},
    {"bloom_key", composite_key, kAnyNumber},
    {"bloom_open", open_handle, 1, kInnocuous},
};

}  // namespace

void add_filter_functions(sqlite3* db) { sqlite::add_functions(db, kFilterFunctions); }

}  // namespace bloom
