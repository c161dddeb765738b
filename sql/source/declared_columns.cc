#include "sql/source/declared_columns.h"

#include "sql/sqlite/sql_text.h"

namespace bloom {

using sqlite::quoted_text;

DeclaredColumns::DeclaredColumns(const Source& source) {
  for (const std::string& name : source.names().columns) {
    columns_.push_back({name, source.rules_of(name)});
  }
}

std::optional<std::string> DeclaredColumns::changed(const Source& now) const {
  const DeclaredColumns others(now);
  for (std::size_t i = 0; i < columns_.size() && i < others.columns_.size(); ++i) {
    const Column& before = columns_[i];
    const Column& after = others.columns_[i];
    const bool has_name = sqlite3_stricmp(before.name.c_str(), after.name.c_str()) == 0;
    if ((before.rules != after.rules || (!has_name && now.has_column(before.name))) &&
        now.has_column(after.name)) {
      return "the column " + quoted_text(after.name) + " of " + quoted_text(now.names().table) +
             " had another name, type or collation";
    }
  }
  return std::nullopt;
}

std::string reopening_message(const std::string& changed, const std::string& table) {
  return changed + " when this connection opened " + quoted_text(table) +
         " (open the database again)";
}

}  // namespace bloom
