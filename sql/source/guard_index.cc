#include "sql/source/guard_index.h"

#include <utility>

#include "sql/source/triggers/trigger_parser.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/shadow_tables.h"

namespace bloom {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

std::string GuardIndex::sql(const std::string& name) const {
  const SourceNames& names = source_.names();
  std::vector<std::string> items = items_;
  for (std::size_t i = 0; items_.empty() && i < names.columns.size(); ++i) {
    items.push_back(quoted_name(names.columns[i]));
  }
  std::string list;
  for (const std::string& item : items) {
    list.append(list.empty() ? "" : ", ").append(item);
  }
  return quoted_name(name) + " ON " + quoted_name(names.table) + "(" + list + ") WHERE 0";
}

// That guard may have been dropped with its source: its virtual table would take a new index of the
// name for its own.
bool GuardIndex::is_of_another(const std::string& name, const std::string& table) const {
  const Statement list(source_.db(), "SELECT name, sql FROM " + source_.qualified("sqlite_master") +
                                         " WHERE type = 'table' AND name <> ?1 COLLATE NOCASE");
  Execution other(list);
  other.bind(1, table);
  while (other.step()) {
    if (makes_own_table(other.value(1).text())) {
      const ShadowTables tables(source_.db(), source_.schema(), std::string(other.value(0).text()),
                                {});
      if (sqlite3_stricmp(tables.text_in_config("guard").c_str(), name.c_str()) == 0) {
        return true;
      }
    }
  }
  return false;
}

std::string GuardIndex::make(const std::string& table) const {
  const std::string first = table + "_guard";
  std::string name = first;
  for (int i = 2;
       sqlite::has_object(source_.db(), source_.schema(), name) || is_of_another(name, table);
       ++i) {
    name = first + std::to_string(i);
  }
  sqlite::execute(source_.db(), "CREATE INDEX " + quoted_name(source_.schema()) + "." + sql(name));
  return name;
}

bool GuardIndex::exists(const std::string& name) const {
  return is_made_by(sqlite::stored_sql(source_.db(), source_.schema(), "index", name), name);
}

bool GuardIndex::is_made_by(std::string_view sql, const std::string& name) const {
  return sqlite::same_sql(sql, "CREATE INDEX " + this->sql(name));
}

// SQLite numbers the objects of a schema in the order in which they were made.
std::string GuardIndex::find(const std::string& table) const {
  const Statement select(source_.db(), "SELECT name FROM " + source_.qualified("sqlite_master") +
                                           " WHERE type = 'index' AND tbl_name = ?1 COLLATE NOCASE"
                                           " ORDER BY rowid DESC");
  const std::string prefix = table + "_guard";
  const auto is_numbered = [&](std::string_view name) {
    return name.size() >= prefix.size() &&
           sqlite3_strnicmp(name.data(), prefix.data(), static_cast<int>(prefix.size())) == 0 &&
           name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
  };
  Execution run(select);
  run.bind(1, source_.names().table);
  while (run.step()) {
    std::string name(run.value(0).text());
    if (is_numbered(name) && exists(name) && !is_of_another(name, table)) {
      return name;
    }
  }
  return "";
}

void GuardIndex::give_names_to_source(const std::string& name) {
  enum { kColumn = 2 };
  const Statement select(source_.db(), "SELECT tbl_name FROM " +
                                           source_.qualified("sqlite_master") +
                                           " WHERE type = 'index' AND name = ?1 COLLATE NOCASE");
  const Statement list(source_.db(),
                       "PRAGMA " + source_.qualified("index_info") + "(" + quoted_name(name) + ")");
  Execution table(select);
  if (!table.bind(1, name).step()) {
    return;
  }
  SourceNames names{std::string(table.value(0).text()), {}};
  for (Execution column(list); column.step();) {
    names.columns.emplace_back(column.value(kColumn).text());
  }
  const SourceNames before = source_.names();
  const bool is_complete = names.columns.size() == before.columns.size();
  source_.set_names(std::move(names));
  if (!is_complete || !exists(name)) {
    source_.set_names(before);
  }
}

void GuardIndex::drop(const std::string& name) const {
  if (sqlite::stored_sql(source_.db(), source_.schema(), "index", name).ends_with(") WHERE 0")) {
    sqlite::execute(source_.db(), "DROP INDEX " + source_.qualified(name));
  }
}

}  // namespace bloom
