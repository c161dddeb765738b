#include "sql/group_table/group_options.h"

#include <algorithm>

#include "core/filter/bit_sliced.h"
#include "core/sizing/sizing.h"
#include "core/support/ascii.h"
#include "core/support/error.h"
#include "sql/values/arguments.h"

namespace bloom {
namespace {

constexpr std::uint64_t kFewestKeys = 64;

}  // namespace

using Argument = OptionArgument;

const GroupOptions::Reader GroupOptions::kReaders[] = {
    {"capacity", [](GroupOptions& o, const Argument& w) { o.capacity_ = w.integer(1, kMaxKeys); }},
    {"fpr",
     [](GroupOptions& o, const Argument& w) { o.fpr_ = fpr_argument(w.unquoted_value(), w.name); }},
    {"seed",
     [](GroupOptions& o, const Argument& w) {
       o.seed_ = static_cast<std::uint32_t>(w.integer(0, kMaxSeed));
     }},
    {"collate", [](GroupOptions& o, const Argument& w) { o.collation_ = w.collation(); }},
    {"source", [](GroupOptions& o, const Argument& w) { o.source_ = w.word(); }},
    {"member", [](GroupOptions& o, const Argument& w) { o.member_ = w.word(); }},
    {"column", [](GroupOptions& o, const Argument& w) { o.columns_ = w.words(); }},
    {"on_stale",
     [](GroupOptions& o, const Argument& w) {
       o.answers_maybe_if_stale_ = !w.is_first_of("error", "maybe");
     }},
};

GroupOptions::GroupOptions(sqlite3* db, std::span<const char* const> arguments) {
  read_options<GroupOptions>(db, arguments, kReaders, *this);
  require_consistent();
}

void GroupOptions::require_consistent() const {
  if (source_.has_value() != member_.has_value() || source_.has_value() == columns_.empty()) {
    fail(
        "a table with a source needs the options source, member and column (to find the rows of a "
        "table by a column, use bloom_search(source=..., equal=(...)))");
  }
  if (!source_ && answers_maybe_if_stale_) {
    fail("option on_stale is only for a table with a source (give source, member and column)");
  }
  if (!source_ && !capacity_) {
    fail("the members need a size (give capacity=N, the number of keys per member)");
  }
  for (const std::string& column : columns_) {
    if (equal_ignoring_case(column, *member_)) {
      fail("the options member and column name the same column " + sqlite::quoted_text(column));
    }
  }
}

std::optional<SourceNames> GroupOptions::source() const {
  if (!source_) {
    return std::nullopt;
  }
  SourceNames names{*source_, {*member_}};
  names.columns.insert(names.columns.end(), columns_.begin(), columns_.end());
  return names;
}

Header GroupOptions::header(std::uint64_t keys) const {
  const std::uint64_t enough = std::clamp(keys + keys / 2, kFewestKeys, kMaxKeys);
  Header header = size_filter(capacity_.value_or(enough), fpr_.value_or(kDefaultGroupFpr),
                              Kind::standard, kSegmentBlock);
  header.shape.seed = seed_;
  header.shape.collation = collation();
  return header;
}

}  // namespace bloom
