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

// Lets SQLite convert the text: its versions differ in the last digit of some numbers.
bool SourceComparison::may_contain_number(PagedFilter& filter, const Key& text, ValueCopy& shown) {
  bool found = false;
  to_number_.read(text.bytes(), [&](const Value& number) {
    if (is_of_numbers(declared_affinity_)) {
      shown.assign(number);
    }
    found = filter.may_contain(Key(number).hash(filter.shape()));
  });
  return found;
}

bool SourceComparison::may_contain_text(PagedFilter& filter, const Key& number, const Value& value,
                                        ValueCopy& shown) {
  if (declared_affinity_ == Affinity::text) {
    to_text_.read(number, value, [&](std::string_view text) { shown.assign_text(text); });
  }
  return !is_of_numbers(affinity_) && filter.may_contain(other_forms_mark(filter.shape()));
}

}  // namespace bloom
