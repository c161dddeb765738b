// Reads and checks the arguments of SQL functions, and the options of tables, which follow the same
// rules. Each function throws bloom::Error with the name of the argument, the rule and the value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/filter/filter.h"
#include "core/operations/delta.h"
#include "sql/sqlite/value.h"
#include "sql/values/handles.h"
#include "sql/values/key.h"

namespace bloom {

using sqlite::Value;
using sqlite::Values;

// Returns "argument 3" for i = 2: SQL counts from 1.
std::string argument_name(int i);

// Throws if the call has fewer than `count` arguments. For functions of any number of arguments
// only; SQLite checks the others. `usage` shows a correct call.
void require_at_least(int count, const Values& arguments, const char* usage);

// Returns the filter of argument i, which must be a blob or a handle made by bloom_open(). Throws
// for any other value, also for NULL: in a WHERE clause a NULL result would silently drop rows.
// Reads all cells of a blob, and throws if they are damaged. Throws what `check_interrupt` throws.
FilterView filter_argument(const Values& arguments, int i,
                           const InterruptCheck& check_interrupt = {});
// As above, for one value. `name` names it in errors.
FilterView filter_argument(const Value& value, const char* name,
                           const InterruptCheck& check_interrupt = {});
// As above in constant time: damaged cells are not noticed. For lookups, which read few cells.
FilterView unverified_filter_argument(const Values& arguments, int i);

// Returns argument 0 as the handle of an open filter. Throws for any other value.
Handle open_handle_argument(const Values& arguments);

// Returns the filter in argument i of an aggregate; nullopt for NULL, which aggregates skip.
//
// Throws for a handle, because the aggregate would silently skip filters. Under DISTINCT, SQLite
// treats different handles as equal. And if SQLite stores the rows before it aggregates them, for
// example to sort them, the handles become NULL.
std::optional<FilterView> aggregate_filter_argument(const Values& arguments, int i,
                                                    const InterruptCheck& check_interrupt);

// Throws the error that a key is a filter. `remedy`: what to do instead.
[[noreturn]] void refuse_filter_as_key(const std::string& name, const char* remedy);
inline bool is_filter_or_handle(const Key& key, const Value& value) {
  return key.is_filter() ||
         (key.is_null() && find_handle(value).state != HandleState::not_a_handle);
}
// Throw if the key in argument i of a function, or in the column key of a table, is a filter or a
// handle. The caller meant to merge the filter, or forgot a column name in INSERT; the filter would
// be hashed silently. In the rows of a source a filter is a key like any other.
inline void refuse_filter_or_handle(const Key& key, const Values& arguments, int i) {
  if (is_filter_or_handle(key, arguments[i])) {
    refuse_filter_as_key(argument_name(i), "bloom_union merges filters");
  }
}
inline void refuse_filter_or_handle(const Key& key, const Value& value) {
  if (is_filter_or_handle(key, value)) {
    refuse_filter_as_key("key", "to merge it, INSERT it into the column filter");
  }
}

// Returns the delta of argument i, which must be a blob.
DeltaView delta_argument(const Values& arguments, int i);
// Throws an error about the delta of argument i. Call if delta_argument() accepted the delta, but
// apply_delta() returned `problem`.
[[noreturn]] void refuse_delta(int i, const Problem& problem);

// Returns an integer in low..high. Accepts a real with an integral value, such as 1e6.
std::uint64_t integer_argument(const Value& value, std::string_view name, std::uint64_t low,
                               std::uint64_t high);
// Returns a number between 0 and 1, both excluded.
double fpr_argument(const Value& value, std::string_view name);
// Returns the kind that the value names, such as 'counting'.
Kind kind_argument(const Value& value);

}  // namespace bloom
