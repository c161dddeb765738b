#include "sql/values/arguments.h"

#include <variant>

#include "core/support/error.h"

namespace bloom {
namespace {

// The usual causes: a name that is misspelt in the WHERE clause of a scalar subquery, and a handle
// that SQLite has turned into NULL, because it passed through a common table expression.
constexpr char kNullFilter[] =
    "NULL; did the subquery find no row? A handle passes only through a scalar subquery: (SELECT "
    "bloom_open(filter) FROM ...)";

[[noreturn]] void refuse_bytes(const std::string& name, const Problem& problem,
                               const char* if_foreign, const char* if_damaged) {
  throw Error(problem.is_foreign ? Error::Kind::invalid : Error::Kind::damaged,
              name + (problem.is_foreign ? if_foreign : if_damaged) + " (" + problem.text + ")");
}

[[noreturn]] void refuse_filter(const std::string& name, Problem problem) {
  if (!problem.is_foreign) {
    problem.text += "; restore it from a backup or build it again";
  }
  refuse_bytes(name, problem, " is not a bloom filter", " is a damaged bloom filter");
}

// Calls name() only if there is an error.
template <typename Name>
FilterView opened_blob(ByteView stored, Name name) {
  auto filter = open_filter(stored);
  if (const auto* problem = std::get_if<Problem>(&filter)) {
    refuse_filter(name(), *problem);
  }
  return std::get<FilterView>(filter);
}

template <typename Name>
Handle opened_handle(const Value& value, Name name) {
  const Handle handle = find_handle(value);
  switch (handle.state) {
    case HandleState::open:
      return handle;
    case HandleState::closed:
      refuse_filter(name(), {true, "a closed handle"});
    case HandleState::not_a_handle:
      break;
  }
  refuse_filter(name(), {true, value.is_null() ? kNullFilter : value.describe()});
}

template <typename Name>
FilterView opened(const Value& value, Name name) {
  return value.type() == SQLITE_BLOB ? opened_blob(value.blob(), name)
                                     : opened_handle(value, name).filter->view();
}

template <typename Name>
FilterView verified(const Value& value, Name name, const InterruptCheck& check_interrupt) {
  const FilterView filter = opened(value, name);
  if (const auto damage = find_damage(filter, check_interrupt)) {
    refuse_filter(name(), *damage);
  }
  return filter;
}

}  // namespace

std::string argument_name(int i) { return "argument " + std::to_string(i + 1); }

void require_at_least(int count, const Values& arguments, const char* usage) {
  if (arguments.size() < count) {
    refuse("the call", usage,
           std::to_string(arguments.size()) + (arguments.size() == 1 ? " argument" : " arguments"));
  }
}

FilterView filter_argument(const Values& arguments, int i, const InterruptCheck& check_interrupt) {
  return verified(
      arguments[i], [i] { return argument_name(i); }, check_interrupt);
}

FilterView filter_argument(const Value& value, const char* name,
                           const InterruptCheck& check_interrupt) {
  return verified(
      value, [name] { return std::string(name); }, check_interrupt);
}

FilterView unverified_filter_argument(const Values& arguments, int i) {
  return opened(arguments[i], [i] { return argument_name(i); });
}

Handle open_handle_argument(const Values& arguments) {
  return opened_handle(arguments[0], [] { return argument_name(0); });
}

void refuse_filter_as_key(const std::string& name, const char* remedy) {
  fail(name + " must not be a bloom filter (" + remedy + ")");
}

DeltaView delta_argument(const Values& arguments, int i) {
  const Value value = arguments[i];
  if (value.type() != SQLITE_BLOB) {
    refuse_delta(i, {true, value.describe()});
  }
  const auto delta = open_delta(value.blob());
  if (const auto* problem = std::get_if<Problem>(&delta)) {
    refuse_delta(i, *problem);
  }
  return std::get<DeltaView>(delta);
}

void refuse_delta(int i, const Problem& problem) {
  refuse_bytes(argument_name(i), problem, " is not a delta for this filter", " is a damaged delta");
}

std::optional<FilterView> aggregate_filter_argument(const Values& arguments, int i,
                                                    const InterruptCheck& check_interrupt) {
  const Value value = arguments[i];
  if (find_handle(value).state != HandleState::not_a_handle) {
    refuse(argument_name(i), "a blob in an aggregate", "a handle");
  }
  if (value.is_null()) {
    return std::nullopt;
  }
  return filter_argument(arguments, i, check_interrupt);
}

std::uint64_t integer_argument(const Value& value, std::string_view name, std::uint64_t low,
                               std::uint64_t high) {
  const auto lowest = static_cast<double>(low);
  const auto highest = static_cast<double>(high);
  if (value.type() == SQLITE_INTEGER) {
    const std::int64_t count = value.integer();
    if (count >= 0 && static_cast<std::uint64_t>(count) >= low &&
        static_cast<std::uint64_t>(count) <= high) {
      return static_cast<std::uint64_t>(count);
    }
  } else if (value.type() == SQLITE_FLOAT && value.real() >= lowest && value.real() <= highest) {
    const auto count = static_cast<std::uint64_t>(value.real());
    if (static_cast<double>(count) == value.real()) {
      return count;
    }
  }
  refuse(name, "an integer between " + std::to_string(low) + " and " + std::to_string(high),
         value.describe());
}

double fpr_argument(const Value& value, std::string_view name) {
  const bool number = value.type() == SQLITE_FLOAT || value.type() == SQLITE_INTEGER;
  if (!number || !(value.real() > 0 && value.real() < 1)) {
    refuse(name, "a number between 0 and 1", value.describe());
  }
  return value.real();
}

Kind kind_argument(const Value& value) {
  const auto kind = value.type() == SQLITE_TEXT ? kind_named(value.text()) : std::optional<Kind>();
  if (!kind) {
    refuse("kind", kKindRule, value.describe());
  }
  return *kind;
}

}  // namespace bloom
