// The guard index of a source: see source.h.
#include <utility>

#include "sql/source/source.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

std::string Source::guard_sql(const std::string& name) const {
  std::vector<std::string> terms = guarded_;
  for (std::size_t i = 0; guarded_.empty() && i < names_.columns.size(); ++i) {
    terms.push_back(quoted_name(names_.columns[i]));
  }
  std::string list;
  for (const std::string& term : terms) {
    list.append(list.empty() ? "" : ", ").append(term);
  }
  return quoted_name(name) + " ON " + quoted_name(names_.table) + "(" + list + ") WHERE 0";
}

bool Source::has_object(const std::string& name) const {
  const Statement select(
      db_, "SELECT 1 FROM " + qualified("sqlite_master") + " WHERE name = ?1 COLLATE NOCASE");
  return Execution(select).bind(1, name).step();
}

std::string Source::make_guard(const std::string& table) const {
  const std::string first = table + "_guard";
  std::string name = first;
  for (int i = 2; has_object(name); ++i) {
    name = first + std::to_string(i);
  }
  sqlite::execute(db_, "CREATE INDEX " + quoted_name(schema_) + "." + guard_sql(name));
  return name;
}

bool Source::has_guard(const std::string& name) const {
  return is_guard(name, sqlite::stored_sql(db_, schema_, "index", name));
}

bool Source::is_guard(const std::string& name, std::string_view sql) const {
  return sqlite::same_sql(sql, "CREATE INDEX " + guard_sql(name));
}

// Another filter of the same columns may have had this name before it was renamed, so the name
// alone does not tell. SQLite numbers the objects of a schema in the order in which they were made.
std::string Source::find_guard(const std::string& table) const {
  const Statement select(db_, "SELECT name FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'index' AND tbl_name = ?1 COLLATE NOCASE"
                                  " ORDER BY rowid DESC");
  const std::string prefix = table + "_guard";
  const auto is_numbered = [&](std::string_view name) {
    return name.size() >= prefix.size() &&
           sqlite3_strnicmp(name.data(), prefix.data(), static_cast<int>(prefix.size())) == 0 &&
           name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  };
  Execution run(select);
  run.bind(1, names_.table);
  while (run.step()) {
    std::string name(run.value(0).text());
    if (is_numbered(name) && has_guard(name)) {
      return name;
    }
  }
  return "";
}

void Source::take_names_from_guard(const std::string& guard) {
  enum { kColumn = 2 };
  const Statement select(db_, "SELECT tbl_name FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'index' AND name = ?1 COLLATE NOCASE");
  const Statement list(db_, "PRAGMA " + qualified("index_info") + "(" + quoted_name(guard) + ")");
  Execution table(select);
  if (!table.bind(1, guard).step()) {
    return;
  }
  SourceNames names{std::string(table.value(0).text()), {}};
  for (Execution column(list); column.step();) {
    names.columns.emplace_back(column.value(kColumn).text());
  }
  const bool is_complete = names.columns.size() == names_.columns.size();
  std::swap(names_, names);
  if (!is_complete || !has_guard(guard)) {
    std::swap(names_, names);
  }
}

void Source::drop_guard(const std::string& name) const {
  if (sqlite::stored_sql(db_, schema_, "index", name).ends_with(") WHERE 0")) {
    sqlite::execute(db_, "DROP INDEX " + qualified(name));
  }
}

}  // namespace bloom
