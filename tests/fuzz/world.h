// Bloom tables, and for each an ordinary table with the same keys: its mirror. A bloom table must
// contain every key of its mirror. Both change in the same transactions, so SQLite itself is the
// oracle for BEGIN, SAVEPOINT and ROLLBACK. The names and forms of the bloom tables are in the
// ordinary table `named`, so that SQLite rolls them back as well.
//
// The source also has a bloom_search table, `search`, which must find all its rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/fuzz/bounded_database.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {

// A kind of bloom table.
struct Form {
  const char* options;
  const char* empty_filter;  // SQL: a compatible filter; null if no filter can be merged
  bool counting;
  const char* source_key;    // SQL: the key of row r of the source; null if there is no source
  bool nocase = false;       // keys that differ only in case are equal
  unsigned generations = 0;  // 0: none
};

std::string quoted(const std::string& name);
// Returns an SQL literal: one of 16 keys, in one of its 4 forms.
std::string key_literal(Input& input);
// Returns the name of the mirror of a bloom table.
std::string mirror(unsigned slot);
std::string insert_into_mirror(unsigned slot);

class World {
 public:
  World();

  // Runs one statement, or several that belong together. The input chooses them.
  void step(Input& input);
  // Fails if a key of any table is not found.
  void check();

 private:
  // Slots of the table `named`. The first kSlots are the bloom tables; then follow the names of the
  // source and of its first column.
  static constexpr unsigned kSlots = 2;
  static constexpr unsigned kSource = 2;
  static constexpr unsigned kColumn = 3;
  static constexpr const char* kCreateSource =
      "CREATE TABLE s(id INTEGER PRIMARY KEY, k, v NOT NULL DEFAULT 'd', n TEXT COLLATE NOCASE,"
      " g AS (v || '!'))";

  std::string name(unsigned slot);
  // Returns the text with @ replaced by the name of the source, and $ by that of its first column.
  std::string with_names(std::string_view text);
  const Form& form(unsigned slot);
  std::int64_t number(const std::string& sql);

  // Runs a statement on a bloom table, and one on its mirror. Fails if one of them fails.
  void run_both(const std::string& sql, const std::string& on_mirror);
  int run(const std::string& sql);
  void must_run(const std::string& sql);
  [[noreturn]] void fail_with_log(const std::string& what);

  void replace_table(unsigned slot, unsigned form);
  void change_keys(unsigned slot, Input& input);
  void remove(unsigned slot, Input& input);
  void refuse_null(unsigned slot, Input& input);
  void merge(unsigned slot, Input& input);
  void command(unsigned slot, Input& input);
  void rotate(unsigned slot);
  void rename(unsigned slot, Input& input);
  void change_source(Input& input);
  void change_search(Input& input);
  void change_triggers(unsigned slot, Input& input);
  void change_transaction(Input& input);
  void prepare_lookup(unsigned slot);
  // The keys that a bloom table must contain: `key` of each row of FROM `rows` AS r, in SQL.
  struct Keys {
    std::string rows;
    std::string key;
  };
  Keys keys(unsigned slot);
  std::int64_t count_found(unsigned slot, const std::string& rows, const std::string& key);
  void check_slot(unsigned slot);
  void check_search();
  void check_prepared_lookup(unsigned slot);

  BoundedDatabase database_;
  // The statements that were run, to find the cause of a failure.
  std::string log_;
  // Triggers were dropped, or triggers that may block them were created. A table that follows the
  // source may then refuse lookups.
  bool triggers_changed_ = false;
  std::unique_ptr<Statement> prepared_lookups_[kSlots];
};

}  // namespace bloom::fuzz
