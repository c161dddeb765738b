#include "sql/source/source_comparison.h"

namespace bloom {

using sqlite::ReusableValue;
using sqlite::Value;

const char* type_to_declare(Affinity affinity) {
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
  if (is_stored_in_other_form(key)) {
    assign_integer(*canonical_integer(key.bytes()), converted);
  }
  if (may_be_number(key)) {
    to_number_.convert(key.bytes(), [&](const Value& number) {
      forms.number = Key(number).bytes();
      const auto integer = canonical_integer(*forms.number);
      integer ? assign_integer(*integer, converted) : converted.assign(number);
    });
    return forms;
  }
  if (affinity_ == Affinity::text && key.is_number()) {
    to_text_.convert(key, value, [&](std::string_view text) { converted.assign_text(text); });
  }
  forms.may_be_text = may_be_text(key);
  return forms;
}

}  // namespace bloom
