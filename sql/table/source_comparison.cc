#include "sql/table/source_comparison.h"

namespace bloom {

using sqlite::Execution;
using sqlite::Value;
using sqlite::ValueCopy;

const char* SourceComparison::declared_type() const {
  switch (declared_) {
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

// SQLite converts the text, because its versions differ in the last digit of some numbers.
bool SourceComparison::may_contain_number(PagedFilter& filter, const Key& text, ValueCopy& shown) {
  bool found = false;
  to_number_.read(text.bytes(), [&](const Value& number) {
    if (is_of_numbers(declared_)) {
      shown.assign(number);
    }
    found = filter.may_contain(Key(number).hash(filter.shape()));
  });
  return found;
}

bool SourceComparison::may_contain_text(PagedFilter& filter, const Key& number, const Value& value,
                                        ValueCopy& shown) {
  if (declared_ == Affinity::text && value.type() == SQLITE_INTEGER) {
    shown.assign_text(number.bytes());
  } else if (declared_ == Affinity::text) {
    if (!to_text_) {
      to_text_.emplace(source_.db(), "SELECT CAST(?1 AS TEXT)");
    }
    Execution run(*to_text_);
    run.bind(1, value.real()).step();
    shown.assign_text(run.value(0).text());
  }
  return !is_of_numbers(affinity_) && filter.may_contain(other_forms_mark(filter.shape()));
}

}  // namespace bloom
