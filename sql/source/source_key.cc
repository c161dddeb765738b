#include "sql/source/source_key.h"

#include "core/hashing/key.h"

namespace bloom {

using sqlite::Execution;
using sqlite::Value;

SourceKey key_of_row(const Execution& row, int first, const KeyForm& form) {
  const int columns = row.columns();
  if (columns == first + 1) {
    return key_of_value(row.value(first), false, form);
  }
  CountedString composite;
  bool needs_marker = false;
  for (int i = first; i < columns; ++i) {
    const Key part(row.value(i));
    if (part.is_null()) {
      return {};
    }
    needs_marker = needs_marker || part.is_noncanonical_number();
    append_part(composite, part.bytes());
  }
  return {hash_composite(composite, form.parts, form.shape.seed), needs_marker};
}

// The parts of a composite key have lost their types. A number that is not an integer counts as a
// text here: the marker can cause false positives, but is never missing.
SourceKey key_of_value(const Value& value, bool is_composite, const KeyForm& form) {
  const Key key(value);
  if (key.is_null()) {
    return {};
  }
  if (!is_composite) {
    return {key.hash(form.shape), key.is_noncanonical_number()};
  }
  bool needs_marker = false;
  std::string_view rest = key.bytes();
  while (const auto part = take_part(rest)) {
    needs_marker = needs_marker || bloom::is_noncanonical_number(*part);
  }
  return {hash_composite(key.bytes(), form.parts, form.shape.seed), needs_marker};
}

std::string describe_row(const Execution& row) {
  const int columns = row.columns();
  if (columns == 1) {
    return row.value(0).describe();
  }
  std::string parts;
  for (int i = 0; i < columns; ++i) {
    parts.append(parts.empty() ? "(" : ", ").append(row.value(i).describe());
  }
  return parts + ")";
}

std::string describe_key(const Value& value, bool is_composite) {
  const Key key(value);
  if (!is_composite || count_parts(key.bytes()) == 0) {
    return value.describe();
  }
  std::string parts;
  std::string_view rest = key.bytes();
  while (const auto part = take_part(rest)) {
    parts.append(parts.empty() ? "(" : ", ").append(sqlite::quoted_text(*part));
  }
  return parts + ")";
}

}  // namespace bloom
