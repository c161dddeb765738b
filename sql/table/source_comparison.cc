#include "sql/table/source_comparison.h"

namespace bloom {

using sqlite::Execution;
using sqlite::Value;
using sqlite::ValueCopy;

const char* SourceComparison::declared_type() const {
  switch (declared_affinity_) {
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
    assign_as_text(number, value, shown);
  }
  return !is_of_numbers(affinity_) && filter.may_contain(other_forms_mark(filter.shape()));
}

// The key of an integer has its text. SQLite converts a real number, because its versions differ in
// the last digit of some numbers.
void SourceComparison::assign_as_text(const Key& number, const Value& value, ValueCopy& shown) {
  if (value.type() == SQLITE_INTEGER) {
    shown.assign_text(number.bytes());
    return;
  }
  if (!to_text_) {
    to_text_.emplace(source_.db(), "SELECT CAST(?1 AS TEXT)");
  }
  Execution run(*to_text_);
  run.bind(1, value.real()).step();
  shown.assign_text(run.value(0).text());
}

}  // namespace bloom
