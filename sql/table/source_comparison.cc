#include "sql/table/source_comparison.h"

namespace bloom {

using sqlite::Value;
using sqlite::ValueCopy;

const char* type_of_key(Affinity affinity) {
  switch (affinity) {
    case Affinity::numeric:
      return "NUMERIC";
    case Affinity::real:
      return "REAL";
    case Affinity::text:
      return "TEXT";
    case Affinity::blob:
      break;
  }
  return "";
}

// SQLite converts the text, because versions of SQLite differ in the last digit of some numbers.
bool SourceComparison::may_contain_number(PagedFilter& filter, const Key& text,
                                          ValueCopy& converted) {
  bool found = false;
  to_number_.convert(text.bytes(), [&](const Value& number) {
    if (is_numeric(declared_affinity_)) {
      converted.assign(number);
    }
    found = filter.may_contain(Key(number).hash(filter.shape()));
  });
  return found;
}

bool SourceComparison::may_contain_text(PagedFilter& filter, const Key& number, const Value& value,
                                        ValueCopy& converted) {
  if (declared_affinity_ == Affinity::text) {
    to_text_.convert(number, value, [&](std::string_view text) { converted.assign_text(text); });
  }
  return !is_numeric(affinity_) && filter.may_contain(noncanonical_marker(filter.shape()));
}

}  // namespace bloom
