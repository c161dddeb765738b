#include "sql/search_table/search_columns.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/support/error.h"
#include "sql/search_table/search_table.h"
#include "sql/source/source_comparison.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::quoted_name;

// Returns whether the text consists of words, and none of them is a keyword of SQL.
bool is_plain(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, size);
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0 ||
        !std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) ||
        sqlite3_keyword_check(word.data(), static_cast<int>(size)) != 0) {
      return false;
    }
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return true;
}

// Returns the type to declare for a column of the source: its own, if SQLite reads that in the same
// way in another statement, or else one of the same affinity. The type may be a name in quotes.
std::string type_to_declare(const SourceColumn& column) {
  std::string lower(column.type);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* const word : {"hidden", "any"}) {
    if (lower.find(word) != std::string::npos) {
      return type_to_declare(column.affinity);
    }
  }
  const bool is_none = column.type.empty() && column.affinity != Affinity::blob;  // c ""
  return is_plain(column.type) && !is_none ? column.type : type_to_declare(column.affinity);
}

}  // namespace

SearchColumns::SearchColumns(const char* table, const SearchSource& source,
                             const SearchOptions& options)
    : table_(table),
      declaration_("CREATE TABLE x("),
      source_columns_(static_cast<int>(source.columns().size())) {
  std::vector<std::string> names;
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) {
      return sqlite3_stricmp(each.c_str(), name.c_str()) == 0;
    });
  };
  const auto add = [&](const std::string& name, const std::string& type) {
    declaration_.append(names.empty() ? "" : ", ").append(quoted_name(name)).append(" ");
    declaration_.append(type);
    names.push_back(name);
  };
  for (const SourceColumn& column : source.columns()) {
    add(column.name, type_to_declare(column) + " COLLATE " + quoted_name(column.collation));
    sql_.push_back(sqlite::quoted_column(column.name));
  }
  for (std::size_t i = 0; i < options.items().size(); ++i) {
    const SearchedItem& item = options.items()[i];
    const int column = source.source_column_of_item(i);
    // A column that is gone is declared once, so that its queries fail.
    const bool is_gone = column < 0 && item.expression.empty();
    // The source has got a column of this name later, which hides the expression.
    const bool is_hidden =
        column < 0 && (is_gone ? is_taken(item.column) : source.find(item.column) >= 0);
    item_columns_.push_back(column >= 0 ? column
                            : is_hidden ? std::numeric_limits<int>::max()
                                        : static_cast<int>(sql_.size()));
    if (column < 0 && !is_hidden) {
      if (is_taken(item.column)) {
        fail("two expressions have the name " + sqlite::quoted_text(item.column) +
             " (choose another name)");
      }
      add(item.column, "BLOB HIDDEN");
      // SQLite would read an unknown name in double quotes as a string.
      sql_.push_back(is_gone ? sqlite::quoted_column(item.column) : source.sql_of_item(i));
    }
  }
  for (const auto& property : SearchTable::Search::hidden_columns()) {
    if (names.size() < kColumnsWithOwnBit && !is_taken(property.name) &&
        sqlite3_stricmp(property.name, table) != 0) {
      add(property.name, std::string(property.type) + " HIDDEN");
      properties_.push_back(property.column);
    }
  }
  const auto same_name = std::find_if(names.begin(), names.end(), [&](const std::string& each) {
    return sqlite3_stricmp(each.c_str(), table) == 0;
  });
  command_ = static_cast<int>(same_name - names.begin());
  if (same_name == names.end()) {
    add(table, "HIDDEN");
  }
  declaration_ += ")";
}

void SearchColumns::require_table_name_is_free() const {
  if (command_ < value_columns()) {
    fail("a table cannot be called " + sqlite::quoted_text(table_) +
         ": it has a column of this name (choose another name)");
  }
}

}  // namespace bloom
