// Bloom tables beside ordinary tables that hold the same keys: a bloom table must contain every key
// of its ordinary table. Both change in the same transactions, so that SQLite itself is the oracle
// of BEGIN, SAVEPOINT and ROLLBACK; what the tables are called is in a table, too.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/fuzz/bounded_database.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {

struct Form {
  const char* options;
  const char* filter;  // an empty filter of that shape; none if it takes no filters
  bool counting;
  // Of a row of the source, if it follows it.
  const char* key;
  // Keys that are equal but for their case are one.
  bool nocase = false;
  unsigned generations = 0;  // none if 0
};

std::string quoted(const std::string& name);
// An SQL literal of one of few keys, in one of its forms.
std::string key(Input& input);
// The ordinary table beside a bloom table.
std::string mirror(unsigned slot);
std::string insert_into_mirror(unsigned slot);

class World {
 public:
  World();

  // One statement, or what belongs together, as the input says.
  void step(Input& input);
  // Fails unless every key of every table is found.
  void check();

 private:
  // Of the table `named`: bloom tables, the source, and its first column.
  static constexpr unsigned kSlots = 2;
  static constexpr unsigned kSource = 2;
  static constexpr unsigned kColumn = 3;
  static constexpr const char* kCreateSource =
      "CREATE TABLE s(id INTEGER PRIMARY KEY, k, v NOT NULL DEFAULT 'd', n TEXT COLLATE NOCASE,"
      " g AS (v || '!'))";

  std::string name(unsigned slot);
  // With the name of the source for each @, and of its first column for each $.
  std::string with_names(std::string_view text);
  const Form& form(unsigned slot);
  std::int64_t number(const std::string& sql);

  // Runs a statement on a bloom table, and what it means for the ordinary one if it succeeded.
  void both(const std::string& sql, const std::string& meaning);
  int run(const std::string& sql);
  void must_run(const std::string& sql);
  [[noreturn]] void broken(const std::string& what);

  void make(unsigned slot, unsigned form);
  void change_keys(unsigned slot, Input& input);
  void remove(unsigned slot, Input& input);
  void refuse_null(unsigned slot, Input& input);
  void merge(unsigned slot, Input& input);
  void command(unsigned slot, Input& input);
  void rotate(unsigned slot);
  void rename(unsigned slot, Input& input);
  void change_source(Input& input);
  void change_triggers(unsigned slot, Input& input);
  void change_transaction(Input& input);
  void hold(unsigned slot);
  // What every row of FROM `rows` AS r has as a key is answered.
  struct Keys {
    std::string rows;
    std::string key;
  };
  Keys keys(unsigned slot);
  std::int64_t answered(unsigned slot, const std::string& rows, const std::string& key);
  void check_slot(unsigned slot);
  void check_held(unsigned slot);

  BoundedDatabase database_;
  // The statements that were run, to find the cause of a failure.
  std::string log_;
  // Triggers were taken away, or others put in their way: a table that follows may refuse.
  bool meddled_ = false;
  std::unique_ptr<Statement> held_[kSlots];
};

}  // namespace bloom::fuzz
