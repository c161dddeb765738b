// bloom_explain(filter, table, column): whether a bloom table compares keys as a column does.

#include <optional>
#include <string>

#include "core/hashing/collation.h"
#include "core/support/error.h"
#include "sql/bloom_table/bloom_module.h"
#include "sql/bloom_table/paged/bloom_store.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/sql_text.h"
#include "sql/sqlite/statement.h"
#include "sql/values/affinity.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::Context;
using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;
using sqlite::Value;
using sqlite::Values;

// Rows of the column that are read.
constexpr int kSample = 1000;

std::string name_argument(const Values& arguments, int i) {
  if (arguments[i].type() != SQLITE_TEXT) {
    refuse("argument " + std::to_string(i + 1), "a name", arguments[i].describe());
  }
  return std::string(arguments[i].text());
}

struct ComparedColumn {
  std::string name;  // as in SQL: table.column
  std::string quoted;
  Affinity affinity;
  std::string collation;
};

// Throws bloom::Error if there is no such column.
ComparedColumn read_column(sqlite3* db, const std::string& table, const std::string& column) {
  const char* type = nullptr;
  const char* collation = nullptr;
  if (sqlite3_table_column_metadata(db, nullptr, table.c_str(), column.c_str(), &type, &collation,
                                    nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail("there is no column " + table + "." + column + " in a table (a view has no type)");
  }
  return {table + "." + column, quoted_name(column), affinity_of(type), collation};
}

// What a sample of the column holds.
struct Sample {
  bool has_numbers = false;
  std::optional<std::string> noncanonical;  // an example: see is_noncanonical_number()
};

Sample read_sample(sqlite3* db, const std::string& table, const ComparedColumn& column) {
  const Statement select(db, "SELECT " + column.quoted + " FROM " + quoted_name(table) + " LIMIT " +
                                 std::to_string(kSample));
  Execution run(select);
  Sample sample;
  while (run.step()) {
    const Value value = run.value(0);
    const Key key(value);
    sample.has_numbers = sample.has_numbers || key.is_number();
    if (!sample.noncanonical && key.is_noncanonical_number()) {
      sample.noncanonical = value.describe();
    }
  }
  return sample;
}

// Looks up a key, which fails if the table follows several columns or is out of sync. This also
// connects the table: in SQLite 3.54 column metadata must not be read before.
void require_lookup(sqlite3* db, const std::string& filter) {
  sqlite::execute(db, "SELECT key, chunks_read FROM " + quoted_name(filter) + " WHERE key = 'x'");
}

std::string collation_problem(const ComparedColumn& key, const ComparedColumn& column) {
  const auto own = collation_named(key.collation);
  const auto other = collation_named(column.collation);
  if (!other) {
    return column.name + " has the collation " + column.collation +
           ", which filters do not support (write " + key.name + " = " + column.name +
           ", so that the collation of the filter applies)";
  }
  if (other == own || other == Collation::binary) {
    return "";
  }
  return column.name + " has the collation " + std::string(name_of(*other)) +
         ", and the filter has " + key.collation + ": a key that is equal only under " +
         std::string(name_of(*other)) +
         " is answered \"absent\" (make the filter with collate=" + std::string(name_of(*other)) +
         ")";
}

std::string type_problem(sqlite3* db, const std::string& filter, const ComparedColumn& key,
                         const std::string& table, const ComparedColumn& column) {
  const Sample sample = read_sample(db, table, column);
  const std::string equal = key.name + " = CAST(" + column.name + " AS ";
  if (!config_has_triggers(db, filter)) {
    return sample.noncanonical
               ? column.name + " has text such as " + *sample.noncanonical +
                     ", which SQLite compares as a number, but the filter compares as bytes (if "
                     "the keys were added as numbers, write " +
                     equal + "NUMERIC))"
               : "";
  }
  const bool numbers = sample.has_numbers || is_numeric(column.affinity);
  return numbers && !is_numeric(key.affinity)
             ? column.name +
                   " has numbers, and the filter follows a column that is not numeric: if that has "
                   "text such as '05', no number is answered \"absent\" (compare text with text, "
                   "in the "
                   "filter and in the column: " +
                   equal + "TEXT))"
             : "";
}

void explain(Context& context, const Values& arguments) {
  sqlite3* const db = context.db();
  const std::string filter = name_argument(arguments, 0);
  const std::string table = name_argument(arguments, 1);
  require_lookup(db, filter);
  const ComparedColumn key = read_column(db, filter, "key");
  const ComparedColumn column = read_column(db, table, name_argument(arguments, 2));
  std::string problems = collation_problem(key, column);
  const std::string type = type_problem(db, filter, key, table, column);
  problems.append(problems.empty() || type.empty() ? "" : "\n").append(type);
  context.result_text(problems.empty() ? "ok" : problems);
}

// Not for views and triggers of an untrusted schema: it reads the tables that its arguments name.
constexpr sqlite::ScalarFunction kExplain{"bloom_explain", explain, 3,
                                          SQLITE_UTF8 | SQLITE_DIRECTONLY};

}  // namespace

void add_explain_function(sqlite3* db) { sqlite::add_function(db, kExplain); }

}  // namespace bloom
