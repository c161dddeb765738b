// Looks up keys by the rules by which SQLite compares values with the column of a source.
//
// SQLite converts values before it compares them (https://sqlite.org/datatype3.html, section 4.2):
// '05' and 5.0 are equal to 5 in a column of numbers. A filter compares the bytes of keys, and
// SQLite passes values to it unconverted. So the filter may lack the key of a value that is equal
// to one in the source. In two cases a lookup therefore looks up a second key:
//
// column         value                        the source may have   the second key
// numeric        text: '05'                   5                     the number
// text or blob   a number, and SQLite         '05', '5.0'           other_forms_mark(), which is
//                compares both as numbers                           added with any such text
//
// All other values that SQLite calls equal have the same key.
#pragma once

#include <optional>
#include <string_view>

#include "sql/sqlite/statement.h"
#include "sql/sqlite/value.h"
#include "sql/table/paged_filter.h"
#include "sql/table/source.h"
#include "sql/values/key.h"

namespace bloom {

// Converts text to numbers as SQLite does.
class NumberReader {
 public:
  explicit NumberReader(sqlite3* db) : db_(db) {}
  // Calls f(number) and returns true if SQLite converts the text to `number` to compare it with a
  // column of numbers. Throws SqliteError, and what `f` throws.
  template <typename F>
  bool read(std::string_view text, F&& f) {
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
class TextReader {
 public:
  explicit TextReader(sqlite3* db) : db_(db) {}
  // Calls f(text) with the text of a number. Throws SqliteError, and what `f` throws. Requires:
  // `number` is the key of `value`.
  template <typename F>
  void read(const Key& number, const sqlite::Value& value, F&& f) {
    // The key of an integer has its text. SQLite converts a real number, because its versions
    // differ in the last digit of some numbers.
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

// Returns the type to declare for the column `key` of a table whose source has a column of this
// affinity. SQLite then compares `key` with other values as it compares the column of the source.
const char* type_of_key(Affinity affinity);

class SourceComparison {
 public:
  // Requires: `source` outlives this object.
  explicit SourceComparison(const Source& source)
      : source_(source),
        affinity_(source.affinity()),
        declared_affinity_(affinity_),
        to_number_(source.db()),
        to_text_(source.db()) {}

  // Returns the type to declare for the column `key`. Never changes.
  const char* declared_type() const { return type_of_key(declared_affinity_); }
  // Call when the type of the column may have changed.
  void refresh() { affinity_ = source_.affinity(); }

  // Returns whether the filter may contain a key that is equal to `value`, but has other bytes. If
  // a column of the declared type would store `value` in another form, sets `shown` to that form:
  // the column `key` of the bloom table then returns it. Throws SqliteError. Requires: `key` is the
  // key of `value`.
  bool may_contain_equal(PagedFilter& filter, const Key& key, const sqlite::Value& value,
                         sqlite::ValueCopy& shown) {
    if (key.is_text()) {
      return is_of_numbers(affinity_) && key.is_other_form_of_number() &&
             may_contain_number(filter, key, shown);
    }
    return key.is_number() && (!is_of_numbers(affinity_) || declared_affinity_ == Affinity::text) &&
           may_contain_text(filter, key, value, shown);
  }

 private:
  bool may_contain_number(PagedFilter& filter, const Key& text, sqlite::ValueCopy& shown);
  bool may_contain_text(PagedFilter& filter, const Key& number, const sqlite::Value& value,
                        sqlite::ValueCopy& shown);

  const Source& source_;
  Affinity affinity_;                 // of the source's column
  const Affinity declared_affinity_;  // of the column `key`: affinity_ when the table was opened
  NumberReader to_number_;
  TextReader to_text_;
};

}  // namespace bloom
