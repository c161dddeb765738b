// The options of CREATE VIRTUAL TABLE ... USING bloom_search(...).
//
//   source=log                              the table to search
//   like=(msg, path)                        columns for LIKE and GLOB
//   words=(msg)                             columns for MATCH
//   equal=(user, payload->>'$.id' AS id)    columns and expressions for =, IN and IS
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql/sqlite/api.h"
#include "sql/vtab/option_reader.h"

namespace bloom {

enum class SearchedBy { like, words, equal };
const char* name_of(SearchedBy by);

// A column of the source, or an expression and the name of the hidden column that has its value.
struct SearchedItem {
  SearchedBy by;
  std::string column;      // the name
  std::string expression;  // empty for a column of the source
};

class SearchOptions {
 public:
  // Throws bloom::Error.
  SearchOptions(sqlite3* db, std::span<const char* const> arguments);

  const std::string& source() const { return source_; }
  const std::vector<SearchedItem>& items() const { return items_; }

 private:
  static const OptionReader<SearchOptions> kReaders[];
  void read_columns(SearchedBy by, const OptionArgument& argument);
  void read_equal(const OptionArgument& argument);

  std::string source_;
  std::vector<SearchedItem> items_;
};

// Splits a list at its commas, but not within parentheses, brackets or quotes. Trims the parts.
std::vector<std::string> split_list(std::string_view list);

}  // namespace bloom
