#include "sql/source/source_comparison.h"

namespace bloom {

using sqlite::ReusableValue;
using sqlite::Value;

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
SourceComparison::OtherForms SourceComparison::other_forms(const Key& key, const Value& value,
                                                           ReusableValue& converted) {
  OtherForms forms;
  if (!may_have_other_form(key)) {
    return forms;
  }
  if (is_returned_as_integer(key)) {
    converted.assign_integer(*canonical_integer(key.bytes()));
    return forms;
  }
  if (may_be_number(key)) {
    to_number_.convert(key.bytes(), [&](const Value& number) {
      if (is_numeric(declared_affinity_)) {
        converted.assign(number);
      }
      forms.number = Key(number).bytes();
    });
    return forms;
  }
  if (declared_affinity_ == Affinity::text) {
    to_text_.convert(key, value, [&](std::string_view text) { converted.assign_text(text); });
  }
  forms.needs_marker = !is_numeric(affinity_);
  return forms;
}

}  // namespace bloom
