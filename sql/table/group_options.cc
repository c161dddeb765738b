#include "sql/table/group_options.h"

#include "core/filter/bit_sliced.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/values/arguments.h"

namespace bloom {

using Argument = OptionArgument;

const GroupOptions::Reader GroupOptions::kReaders[] = {
    {"capacity", [](GroupOptions& o, const Argument& w) { o.capacity_ = w.count(1, kMaxKeys); }},
    {"fpr", [](GroupOptions& o, const Argument& w) { o.fpr_ = fpr_argument(w.value, w.name); }},
    {"seed", [](GroupOptions& o,
                const Argument& w) { o.seed_ = static_cast<std::uint32_t>(w.count(0, kMaxSeed)); }},
    {"collate", [](GroupOptions& o, const Argument& w) { o.collation_ = w.collation(); }},
};

GroupOptions::GroupOptions(sqlite3* db, std::span<const char* const> arguments)
    : fpr_(kDefaultGroupFpr) {
  read_options<GroupOptions>(db, arguments, kReaders, *this);
  if (!capacity_) {
    fail("the members need a size (give capacity=N, the number of keys per member)");
  }
}

Header GroupOptions::header() const {
  Header header = size_filter(*capacity_, fpr_, Kind::standard, kSegmentBlock);
  header.shape.seed = seed_;
  header.shape.collation = collation_;
  return header;
}

}  // namespace bloom
