#include "sql/group_table/group_options.h"

#include "core/filter/bit_sliced.h"
#include "core/sizing/sizing.h"
#include "core/support/ascii.h"
#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/arguments.h"

namespace bloom {
namespace {

constexpr std::string_view kSource = "source";

}  // namespace

using Argument = OptionArgument;

const GroupOptions::Reader GroupOptions::kReaders[] = {
    {"capacity", [](GroupOptions& o, const Argument& w) { o.capacity_ = w.integer(1, kMaxKeys); }},
    {"fpr", [](GroupOptions& o, const Argument& w) { o.fpr_ = fpr_argument(w.number, w.name); }},
    {"seed",
     [](GroupOptions& o, const Argument& w) {
       o.seed_ = static_cast<std::uint32_t>(w.integer(0, kMaxSeed));
     }},
    {"collate", [](GroupOptions& o, const Argument& w) { o.collation_ = w.collation(); }},
};

// bloom has an option of this name, and a version that was not released had it here.
GroupOptions::GroupOptions(sqlite3* db, std::span<const char* const> arguments) {
  for (const char* const argument : arguments) {
    if (equal_ignoring_case(sqlite::trimmed(argument).substr(0, kSource.size()), kSource)) {
      fail(
          "the members do not follow a source (to find the rows of a table by a column, use "
          "bloom_search(source=..., equal=(...)))");
    }
  }
  read_options<GroupOptions>(db, arguments, kReaders, *this);
  if (!capacity_) {
    fail("the members need a size (give capacity=N, the number of keys per member)");
  }
}

Header GroupOptions::header() const {
  Header header =
      size_filter(*capacity_, fpr_.value_or(kDefaultGroupFpr), Kind::standard, kSegmentBlock);
  header.shape.seed = seed_;
  header.shape.collation = collation();
  return header;
}

}  // namespace bloom
