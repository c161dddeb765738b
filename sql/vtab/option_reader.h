// Reads the options of CREATE VIRTUAL TABLE ... USING <module>(name=value, ...). A value is a
// number, a 'string', a bare word, or a list of words or expressions in parentheses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hashing/collation.h"
#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"

namespace bloom {

// Converts the texts of options to SQL values. Prepares its statement at the first call of
// convert(): each connection reads the options when it opens a table, and most need no statement.
class OptionConverter {
 public:
  explicit OptionConverter(sqlite3* db) : db_(db) {}

  struct Converted {
    sqlite::OwnedValue value;     // a number, or text for a 'string' or another word
    sqlite::OwnedValue unquoted;  // the same, but also a number for a number in quotes
  };
  Converted convert(std::string_view text);

 private:
  sqlite3* db_;
  std::optional<sqlite::Statement> select_;
};

// One option as it was written: its name, its source text and its SQL value. The functions throw
// bloom::Error with the option, the rule and the value if the value breaks the rule.
class OptionArgument {
 public:
  OptionArgument(std::string_view option, std::string_view given, OptionConverter& converter)
      : name(option), text(given), converter_(converter) {}

  const std::string_view name;
  const std::string_view text;

  // As OptionConverter::Converted. Valid as long as this object.
  sqlite::Value value() const { return sqlite::Value(values().value.get()); }
  sqlite::Value unquoted_value() const { return sqlite::Value(values().unquoted.get()); }

  std::uint64_t integer(std::uint64_t low, std::uint64_t high) const;
  std::string word(std::string_view rule = "a name") const;
  std::vector<std::string> words() const;  // one name, or several in parentheses
  // Returns whether the value is `first`. Throws if it is neither `first` nor `second`.
  bool is_first_of(const char* first, const char* second) const;
  bool on_or_off() const { return is_first_of("on", "off"); }
  Collation collation() const;

 private:
  const OptionConverter::Converted& values() const;

  OptionConverter& converter_;
  mutable std::optional<OptionConverter::Converted> values_;
};

// Reads one option into an object of class Options.
template <typename Options>
struct OptionReader {
  const char* name;
  void (*read)(Options& options, const OptionArgument& argument);
};

// Splits name=value. Throws bloom::Error if there is no =.
std::pair<std::string, std::string_view> split_option(std::string_view argument);
// Throws bloom::Error if another option of these names follows within the argument, after a space.
void require_no_lost_comma(std::string_view argument, const std::vector<const char*>& names);
[[noreturn]] void refuse_repeated_option(const char* name);
[[noreturn]] void refuse_unknown_option(const std::string& name,
                                        const std::vector<const char*>& known);

// Reads the module arguments as SQLite passes them, each one the text between two commas. Names are
// not case-sensitive. Throws bloom::Error for an unknown option and for one that is given twice.
template <typename Options>
void read_options(sqlite3* db, std::span<const char* const> arguments,
                  std::span<const OptionReader<Options>> readers, Options& options) {
  OptionConverter converter(db);
  std::vector<const OptionReader<Options>*> given;
  std::vector<const char*> known;
  for (const auto& each : readers) {
    known.push_back(each.name);
  }
  for (const char* const argument : arguments) {
    if (arguments.size() == 1 &&
        std::string_view(argument).find_first_not_of(" \t\r\n\f") == std::string_view::npos) {
      return;  // USING bloom()
    }
    const auto [name, text] = split_option(argument);
    // Clang 14 captures structured bindings only under another name.
    const auto reader =
        std::find_if(readers.begin(), readers.end(), [&wanted = name](const auto& each) {
          return sqlite3_stricmp(wanted.c_str(), each.name) == 0;
        });
    if (reader == readers.end()) {
      refuse_unknown_option(name, known);
    }
    if (std::find(given.begin(), given.end(), &*reader) != given.end()) {
      refuse_repeated_option(reader->name);
    }
    given.push_back(&*reader);
    require_no_lost_comma(argument, known);
    reader->read(options, OptionArgument(reader->name, text, converter));
  }
}

}  // namespace bloom
