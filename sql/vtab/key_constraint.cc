#include "sql/vtab/key_constraint.h"

#include <algorithm>
#include <new>

#include "sql/values/hidden_type.h"

namespace bloom {
namespace {

// Returns whether the constraint is key IN (...). SQLite offers it as key = ?, and runs the plan
// once for each value of the list. Older versions cannot tell.
bool is_in_list(sqlite3_index_info& info, int constraint, bool take = false) {
#if SQLITE_VERSION_NUMBER >= 3038000
  constexpr int kFirstWithVtabIn = 3038000;
  if (sqlite3_libversion_number() >= kFirstWithVtabIn) {
    return sqlite3_vtab_in(&info, constraint, take ? 1 : -1) != 0;
  }
#endif
  static_cast<void>(info);
  static_cast<void>(constraint);
  static_cast<void>(take);
  return false;
}

}  // namespace

KeyConstraint choose_key_constraint(sqlite3_index_info& info, int column, Collation own) {
  KeyConstraint key;
  bool binary_comes_later = false;
  bool single_key_comes_later = false;
  bool is_list = false;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn != column || !is_equality(constraint.op)) {
      continue;
    }
    const char* collation = sqlite3_vtab_collation(&info, i);
    const auto known = collation_named(without_alias(collation));
    const bool is_stricter = known == Collation::binary && key.collation != Collation::binary;
    const bool in_list = is_in_list(info, i);
    if (constraint.usable == 0) {
      key.comes_later = true;
      single_key_comes_later = single_key_comes_later || !in_list;
      binary_comes_later = binary_comes_later || known == Collation::binary;
    } else if (!known || (*known != own && *known != Collation::binary)) {
      key.unsupported_collation = collation;
    } else if (key.index < 0 || is_stricter || (*known == key.collation && is_list)) {
      key.index = i;
      key.collation = *known;
      is_list = in_list;
    }
  }
  // SQLite tests the other conditions on the key with the value that was looked up. If there are
  // several, the strictest one must be looked up: BINARY before any other collation.
  if (binary_comes_later && key.collation != Collation::binary) {
    key.index = -1;
  }
  key.list_displaces_join = is_list && single_key_comes_later;
  key.may_be_list = key.index >= 0 && may_be_list(info, key.index);
  return key;
}

bool may_be_list(sqlite3_index_info& info, int constraint) {
  constexpr int kConstraints = 32;  // SQLite tells it of so many
  constexpr int kFirstWithVtabIn = 3038000;
  return is_in_list(info, constraint) ||
         (constraint >= kConstraints && sqlite3_libversion_number() >= kFirstWithVtabIn);
}

ListUse take_as_list(sqlite3_index_info& info, int constraint) {
  if (!may_be_list(info, constraint)) {
    return ListUse::none;
  }
  return is_in_list(info, constraint, /*take=*/true) ? ListUse::list : ListUse::maybe_list;
}

int equality_on(const sqlite3_index_info& info, int column) {
  int found = -1;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn == column && is_equality(constraint.op) && constraint.usable != 0) {
      found = i;
    }
  }
  return found;
}

bool is_compared(const sqlite3_index_info& info, int column) {
  return std::any_of(info.aConstraint, info.aConstraint + info.nConstraint, [&](const auto& each) {
    return each.iColumn == column && is_equality(each.op);
  });
}

int null_test_on(const sqlite3_index_info& info, int column) {
  int found = -1;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (constraint.iColumn == column && constraint.op == SQLITE_INDEX_CONSTRAINT_ISNULL &&
        constraint.usable != 0) {
      found = i;
    }
  }
  return found;
}

void set_plan_text(sqlite3_index_info& info, const std::string& text) {
  info.idxStr = sqlite3_mprintf("%s", text.c_str());
  if (info.idxStr == nullptr) {
    throw std::bad_alloc();
  }
  info.needToFreeIdxStr = 1;
}

void name_unsupported_collation(sqlite3_index_info& info, const char* collation) {
  set_plan_text(info, std::string(kUnsupportedCollationPrefix) + collation);
}

}  // namespace bloom
