#include "sql/group_table/group_options.h"

#include "core/filter/bit_sliced.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/values/arguments.h"

namespace bloom {

using Argument = OptionArgument;

const GroupOptions::Reader GroupOptions::kReaders[] = {
    {"capacity", [](GroupOptions& o, const Argument& w) { o.capacity_ = w.integer(1, kMaxKeys); }},
    {"fpr", [](GroupOptions& o, const Argument& w) { o.fpr_ = fpr_argument(w.number, w.name); }},
    {"seed",
     [](GroupOptions& o, const Argument& w) {
       o.seed_ = static_cast<std::uint32_t>(w.integer(0, kMaxSeed));
     }},
    {"source", [](GroupOptions& o, const Argument& w) { o.source_ = w.word(); }},
    {"column", [](GroupOptions& o, const Argument& w) { o.columns_ = w.words(); }},
    {"rows", [](GroupOptions& o, const Argument& w) { o.rows_ = w.integer(1, kMaxKeys); }},
    {"on_stale", [](GroupOptions& o,
                    const Argument& w) { o.maybe_when_stale_ = !w.is_first_of("error", "maybe"); }},
    {"collate", [](GroupOptions& o, const Argument& w) { o.collation_ = w.collation(); }},
};

GroupOptions::GroupOptions(sqlite3* db, std::span<const char* const> arguments) {
  read_options<GroupOptions>(db, arguments, kReaders, *this);
  require_consistent();
}

void GroupOptions::require_consistent() const {
  if (source_.has_value() == columns_.empty()) {
    refuse("source and column", "given together", source_ ? "source only" : "column only");
  }
  if (columns_.size() > 1) {
    refuse("column", "one column", std::to_string(columns_.size()) + " columns");
  }
  if (!source_ && (rows_ || maybe_when_stale_)) {
    fail(std::string("option ") + (rows_ ? "rows" : "on_stale") +
         " is only for a table whose members are ranges of rows (give source and column)");
  }
  if (!source_ && !capacity_) {
    fail("the members need a size (give capacity=N, the number of keys per member)");
  }
}

std::optional<SourceNames> GroupOptions::source() const {
  return source_ ? std::optional(SourceNames{*source_, columns_}) : std::nullopt;
}

Header GroupOptions::header() const {
  const double fpr = fpr_.value_or(source_ ? kDefaultRangeFpr : kDefaultGroupFpr);
  Header header = size_filter(capacity_.value_or(rows()), fpr, Kind::standard, kSegmentBlock);
  header.shape.seed = seed_;
  header.shape.collation = collation();
  return header;
}

}  // namespace bloom
