// Which other keys to look up, because equal values can have different keys.
//
// SQLite converts values before it compares them (https://sqlite.org/datatype3.html, section 4.2):
// '05' and 5.0 are equal to 5 in a column of numbers. A filter compares the bytes of keys, and
// SQLite passes values to it unconverted. So the filter may lack the key of a value that is equal
// to one in the source. In two cases a lookup therefore looks up a second key:
//
// affinity of    the value that   the source   the second key
// the column     is looked up     may have
// numeric        '05'             5            the number 5
// text or blob   5                '05'         noncanonical_marker(), which is added with any text
//                                              such as '05'
//
// In the second case SQLite compares both as numbers only if the 5 has numeric affinity, for
// example if it is the value of an INTEGER column.
//
// All other values that SQLite calls equal have the same key. For a composite key this holds for
// each of its columns.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>

#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/values/affinity.h"
#include "sql/values/key.h"

namespace bloom {

// Converts text to numbers as SQLite does.
class TextToNumber {
 public:
  explicit TextToNumber(sqlite3* db) : db_(db) {}
  // Calls f(number) and returns true if SQLite converts the text to `number` to compare it with a
  // column of numbers. Throws SqliteError, and what `f` throws.
  template <typename F>
  bool convert(std::string_view text, F&& f) {
    if (!select_) {
      select_.emplace(db_, "SELECT CAST(?1 AS NUMERIC) WHERE CAST(?1 AS NUMERIC) = ?1");
    }
    sqlite::Execution run(*select_);
    const bool is_number = run.bind(1, text).step();
    if (is_number) {
      f(run.value(0));
    }
    return is_number;
  }

 private:
  sqlite3* db_;
  std::optional<sqlite::Statement> select_;
};

// Converts numbers to text as SQLite does.
class NumberToText {
 public:
  explicit NumberToText(sqlite3* db) : db_(db) {}
  // Calls f(text) with the text of a number. Throws SqliteError, and what `f` throws. Requires:
  // `number` is the key of `value`.
  template <typename F>
  void convert(const Key& number, const sqlite::Value& value, F&& f) {
    assert(number.is_number());
    // The key of an integer is its text. The text of a real number comes from SQLite, because
    // versions of SQLite differ in the last digit of some numbers.
    if (value.type() == SQLITE_INTEGER) {
      return f(number.bytes());
    }
    if (!select_) {
      select_.emplace(db_, "SELECT CAST(?1 AS TEXT)");
    }
    sqlite::Execution run(*select_);
    run.bind(1, value.real()).step();
    f(run.value(0).text());
  }

 private:
  sqlite3* db_;
  std::optional<sqlite::Statement> select_;
};

// Returns the type to declare for the column of a table whose source has a column of this
// affinity. SQLite then compares it with other values as it compares the column of the source.
const char* type_to_declare(Affinity affinity);

class SourceComparison {
 public:
  // `affinity`: that of the column, which is declared for the column of the virtual table as well.
  SourceComparison(sqlite3* db, Affinity affinity)
      : affinity_(affinity), to_number_(db), to_text_(db) {}

  // Returns the type to declare for the column of the virtual table.
  const char* declared_type() const { return type_to_declare(affinity_); }
  bool is_numeric() const { return bloom::is_numeric(affinity_); }

  // Returns the other forms of `value` that the source may have: keys that are equal to it, but
  // have other bytes. Sets `converted` to the form in which a column of the declared type would
  // store `value`, if it is another one: the bloom table returns that. Throws SqliteError.
  // Requires: `key` is the key of `value`.
  struct OtherForms {
    std::optional<std::string> number;  // the key of a number
    // Whether the source may have a text such as '05' that equals the number: look up
    // noncanonical_marker() as well.
    bool may_be_text = false;
  };
  OtherForms other_forms(const Key& key, const sqlite::Value& value,
                         sqlite::ReusableValue& converted);
  // Returns false if other_forms() returns none and converts nothing.
  bool may_have_other_form(const Key& key) const {
    return may_be_number(key) || may_be_text(key) || is_stored_in_other_form(key);
  }
  // Returns whether SQLite converts neither side when it compares the column of the source with
  // this value. A statement on the source with `column = ?1` then finds all rows that a lookup of
  // the value must find.
  bool compares_unconverted(const sqlite::Value& value) const {
    const int stored = affinity_ == Affinity::text      ? SQLITE_TEXT
                       : affinity_ == Affinity::numeric ? SQLITE_INTEGER
                                                        : SQLITE_NULL;
    return value.type() == stored;
  }

 private:
  // Return whether the column may have a number that equals the text `key`, or a text that equals
  // the number `key`.
  bool may_be_number(const Key& key) const { return is_numeric() && key.is_noncanonical_number(); }
  bool may_be_text(const Key& key) const { return key.is_number() && !is_numeric(); }
  // Returns whether the column of the source would store the value as another number: '7' or 7.0 as
  // 7, or 7 as 7.0. The bloom table must then return that number, because SQLite does not convert
  // what a virtual table returns.
  bool is_stored_in_other_form(const Key& key) const {
    const bool is_real = affinity_ == Affinity::real;
    return is_numeric() && (key.is_text() || (key.is_number() && key.is_real() != is_real)) &&
           canonical_integer(key.bytes());
  }
  void assign_integer(std::int64_t integer, sqlite::ReusableValue& converted) const {
    if (affinity_ == Affinity::real) {
      converted.assign_real(static_cast<double>(integer));
    } else {
      converted.assign_integer(integer);
    }
  }

  const Affinity affinity_;
  TextToNumber to_number_;
  NumberToText to_text_;
};

}  // namespace bloom
