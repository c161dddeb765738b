#include "sql/values/hidden_type.h"

#include "sql/sqlite/guard.h"

namespace bloom {
namespace {

// As SQLite's RTRIM.
int compare_without_spaces(void*, int a_size, const void* a, int b_size, const void* b) {
  const auto without_spaces = [](const void* bytes, int size) {
    const std::string_view text(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  return without_spaces(a, a_size).compare(without_spaces(b, b_size));
}

}  // namespace

std::string hidden_type(std::string_view type, Collation collation) {
  const std::string_view name = name_of(collation);
  std::string declared = "HIDDEN ";
  declared.append(type.empty() ? "BLOB" : type).append(" ");
  declared.append(collation == Collation::rtrim ? kRtrimAlias : name);
  return declared.append(" COLLATE ").append(name);
}

void add_rtrim_alias(sqlite3* db) {
  const int code = sqlite3_create_collation_v2(db, kRtrimAlias, SQLITE_UTF8, nullptr,
                                               compare_without_spaces, nullptr);
  if (code != SQLITE_OK) {
    throw sqlite::SqliteError(code, sqlite3_errmsg(db));
  }
}

}  // namespace bloom
