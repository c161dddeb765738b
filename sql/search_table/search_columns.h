// The columns of a bloom_search table: those of the source, then hidden ones.
//
//   trace ...       the expressions of the option equal
//   ranges          number of ranges
//   pending_rows    rows that no range covers: appended rows, and changed ones
//   bytes           size of the filters
//   info            a JSON object
//   <table name>    commands
//
// A property is left out if another column has its name, or if its number is too high for a bit of
// its own (kColumnsWithOwnBit).
#pragma once

#include <string>
#include <vector>

#include "sql/search_table/search_options.h"
#include "sql/search_table/search_source.h"

namespace bloom {

enum class SearchProperty { ranges, pending_rows, bytes, info, end };

// sqlite3_index_info::colUsed has a bit for each of the columns before this one, and one bit for
// all others.
inline constexpr int kColumnsWithOwnBit = 63;

class SearchColumns {
 public:
  SearchColumns(const char* table, const SearchSource& source, const SearchOptions& options);

  // Throws bloom::Error if the table has a column of its name. Only for a new name: the source can
  // get such a column later, and the table must stay usable.
  void require_table_name_is_free() const;

  const std::string& declaration() const { return declaration_; }
  // Returns how many columns have values of the source: they are 0..value_columns()-1.
  int value_columns() const { return static_cast<int>(sql_.size()); }
  // Returns the SQL of one of them.
  const std::string& sql(int column) const { return sql_[static_cast<std::size_t>(column)]; }
  // The columns 0..source_columns()-1 are those of the source. Those of expressions follow.
  int source_columns() const { return source_columns_; }
  // Returns the column that item `i` of the options searches; INT_MAX if its name is
  // taken.
  int column_of_item(std::size_t i) const { return item_columns_[i]; }
  // Return whether the column is a property, and which one. Require: column >= value_columns().
  bool has_property(int column) const {
    return static_cast<std::size_t>(column - value_columns()) < properties_.size();
  }
  SearchProperty property(int column) const {
    return properties_[static_cast<std::size_t>(column - value_columns())];
  }
  // The column for commands: it has the name of the table.
  int command() const { return command_; }

 private:
  std::string table_;
  std::string declaration_;
  std::vector<std::string> sql_;
  int source_columns_;
  std::vector<int> item_columns_;
  std::vector<SearchProperty> properties_;
  int command_ = 0;
};

}  // namespace bloom
