#include "sql/values/results.h"

#include <string>

#include "core/support/error.h"

namespace bloom {
namespace {

constexpr std::string_view kResult = "the resulting filter";
constexpr std::string_view kUseTable = "a table USING bloom can hold it";

}  // namespace

void require_within_limit(const Context& context, std::string_view what, std::uint64_t bytes,
                          std::string_view remedy) {
  const std::uint64_t limit = context.length_limit();
  if (bytes > limit) {
    std::string text(what);
    text.append(" must be at most ").append(std::to_string(limit));
    text.append(" bytes (SQLITE_LIMIT_LENGTH), got ").append(std::to_string(bytes));
    if (!remedy.empty()) {
      text.append("; ").append(remedy);
    }
    throw Error(Error::Kind::too_big, text);
  }
}

void require_filter_within_limit(const Context& context, const Shape& shape) {
  require_within_limit(context, kResult, stored_bytes(shape), kUseTable);
}

Filter new_filter(const Context& context, const Header& header) {
  require_filter_within_limit(context, header.shape);
  return Filter(header);
}

void require_binary_parts(const PartCollations& parts) {
  if (!same_collations(parts, {})) {
    fail(
        "bloom_contains() would not find the keys of this filter, because columns of its key "
        "compare by another collation than BINARY (look keys up in the table, or make a filter "
        "with bloom_build(bloom_key(tenant, lower(email))))");
  }
}

void return_filter(Context& context, Filter filter) {
  require_filter_within_limit(context, filter.shape());
  const std::uint64_t size = stored_bytes(filter.shape());
  context.result_blob(filter.release(context.interrupt_check()).release(), size, free_bytes);
}

}  // namespace bloom
