// Filters as results of SQL functions, and the size limit that SQLite sets for a result.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/filter/filter.h"
#include "core/hashing/composite_key.h"
#include "sql/sqlite/context.h"

namespace bloom {

using sqlite::Context;

// Throws if `bytes` exceeds the maximum size of a value on this connection (SQLITE_LIMIT_LENGTH).
// The message names the value as `what`, and ends with `remedy`, which says what to do instead.
void require_within_limit(const Context& context, std::string_view what, std::uint64_t bytes,
                          std::string_view remedy = {});
// As above, for the stored bytes of a filter of this shape.
void require_filter_within_limit(const Context& context, const Shape& shape);

// Returns an empty filter. Throws if its stored bytes would exceed the limit.
Filter new_filter(const Context& context, const Header& header);
// Sets a count as the result of a call; NULL for nullopt.
inline void return_count(Context& context, std::optional<std::uint64_t> count) {
  if (count) {
    context.result_int64(static_cast<std::int64_t>(*count));
  }
}
// Call before a table returns its filter as a blob. `parts`: the collations of the columns of a
// composite key. Throws bloom::Error if one is not BINARY: bloom_key() does not change the case of
// a column, so bloom_contains(filter, bloom_key(...)) would miss keys.
void require_binary_parts(const PartCollations& parts);
// Sets a filter as the result of a call. Throws if its stored bytes exceed the limit.
void return_filter(Context& context, Filter filter);

}  // namespace bloom
