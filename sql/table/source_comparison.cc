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

bool SourceComparison::may_contain(PagedFilter& filter, const Key& key, const Value& value,
                                   ValueCopy& shown) {
  const bool found = filter.may_contain(key.hash(filter.shape()));
  if (key.is_number()) {
    show_number(key, value, shown);
    return found ||
           (!is_of_numbers(affinity_) && filter.may_contain(other_forms_mark(filter.shape())));
  }
  if (!key.is_text()) {
    shown.assign(value);
    return found;
  }
  shown.assign_text(key.bytes());
  const bool converts = is_of_numbers(affinity_) && key.is_other_form_of_number();
  return (converts && may_contain_number(filter, key, shown)) || found;
}

// SQLite converts the text, because its versions differ in the last digit of some numbers.
bool SourceComparison::may_contain_number(PagedFilter& filter, const Key& text, ValueCopy& shown) {
  if (!to_number_) {
    to_number_.emplace(source_.db(), "SELECT CAST(?1 AS NUMERIC) WHERE CAST(?1 AS NUMERIC) = ?1");
  }
  Execution run(*to_number_);
  if (!run.bind(1, text.bytes()).step()) {
    return false;
  }
  const Value number = run.value(0);
  if (is_of_numbers(declared_)) {
    shown.assign(number);
  }
  return filter.may_contain(Key(number).hash(filter.shape()));
}

void SourceComparison::show_number(const Key& key, const Value& value, ValueCopy& shown) {
  if (declared_ != Affinity::text) {
    return shown.assign(value);
  }
  if (value.type() == SQLITE_INTEGER) {
    return shown.assign_text(key.bytes());
  }
  if (!to_text_) {
    to_text_.emplace(source_.db(), "SELECT CAST(?1 AS TEXT)");
  }
  Execution run(*to_text_);
  run.bind(1, value.real()).step();
  shown.assign_text(run.value(0).text());
}

}  // namespace bloom
