// The hidden columns of a virtual table that describe it. A table lists them in one place: name,
// type, and the function of the cursor that computes the value. The declaration and what a cursor
// returns follow from the list.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/support/ascii.h"
#include "sql/sqlite/context.h"

namespace bloom {

// `Column`: the enum of the table's columns.
template <typename Column, typename Cursor>
struct HiddenColumn {
  Column column;
  const char* name;
  const char* type;  // as declared
  void (*set_result)(Cursor& cursor, sqlite::Context& context);
};

// Returns whether the list has each column from `first` on and before `end` once, in this order.
// For a static_assert beside the list.
template <typename Hidden, std::size_t n, typename Column>
constexpr bool lists_all_in_order(const Hidden (&list)[n], Column first, Column end) {
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<int>(list[i].column) != static_cast<int>(first) + static_cast<int>(i)) {
      return false;
    }
  }
  return static_cast<int>(first) + static_cast<int>(n) == static_cast<int>(end);
}

// Returns the declarations for CREATE TABLE: ", keys INTEGER HIDDEN, ...".
template <typename Hidden>
std::string declare(std::span<const Hidden> list) {
  std::string columns;
  for (const Hidden& each : list) {
    columns.append(", ").append(each.name).append(" ").append(each.type).append(" HIDDEN");
  }
  return columns;
}

// Returns the column of this name, in any case; null if there is none.
template <typename Hidden>
const Hidden* find_column(std::span<const Hidden> list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Hidden& each) {
    return equal_ignoring_case(each.name, name);
  });
  return found == list.end() ? nullptr : &*found;
}

// Computes column `i`. Returns false if it is not in the list.
template <typename Hidden, typename Cursor>
bool set_result(std::span<const Hidden> list, int i, Cursor& cursor, sqlite::Context& context) {
  const int first = static_cast<int>(list.front().column);
  if (i < first || i - first >= static_cast<int>(list.size())) {
    return false;
  }
  const Hidden& column = list[static_cast<std::size_t>(i - first)];
  assert(static_cast<int>(column.column) == i);
  column.set_result(cursor, context);
  return true;
}

}  // namespace bloom
