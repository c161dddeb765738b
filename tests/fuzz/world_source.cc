// Members of World: renaming, the source that bloom tables follow, transactions, and the checks.
#include <array>
#include <memory>
#include <string>

#include "tests/fuzz/world.h"

namespace bloom::fuzz {

void World::rename(unsigned slot, Input& input) {
  constexpr std::array kNames = {"b", "a b ", "Order", "x.y"};
  const auto note = [](const std::string& name, unsigned which) {
    std::string sql = "UPDATE named SET name = '" + name;
    sql.append("' WHERE slot = ").append(std::to_string(which));
    return sql;
  };
  unsigned which = slot;
  std::string new_name = kNames.at(input.below(kNames.size())) + std::to_string(slot);
  if (input.below(4) == 3) {
    which = input.flag() ? kSource : kColumn;
    new_name = which == kSource ? (input.flag() ? "s" : "s 2") : (input.flag() ? "k" : "kk");
  }
  const std::string old_name = name(which);
  if (old_name == new_name) {
    return;
  }
  const int code =
      run(which == kColumn ? "ALTER TABLE " + quoted(name(kSource)) + " RENAME COLUMN " + old_name +
                                 " TO " + new_name
                           : "ALTER TABLE " + quoted(old_name) + " RENAME TO " + quoted(new_name));
  if (code == SQLITE_OK) {
    return must_run(note(new_name, which));
  }
  // A bloom table that has lost a trigger keeps its name until 'rebuild'.
  if (which >= kSlots || database_.error().find("'rebuild'") == std::string::npos) {
    fail_with_log("this rename failed");
  }
}

void World::change_source(Input& input) {
  constexpr std::array kRules = {"", "OR IGNORE ", "OR REPLACE ", "OR FAIL ", "OR ROLLBACK "};
  const std::string source = quoted(name(kSource));
  const std::string column = name(kColumn);
  const std::string rule = kRules.at(input.below(kRules.size()));
  const std::string where = " WHERE id = " + std::to_string(input.below(8));
  const auto insert = [&](const std::string& or_rule) {
    const std::string id = input.flag() ? "NULL" : std::to_string(input.below(8));
    const std::string value = key_literal(input);
    const std::string v = input.below(8) == 0 ? "NULL" : key_literal(input);
    return "INSERT " + or_rule + "INTO " + source + "(id, " + column + ", v, n) VALUES (" + id +
           ", " + value + ", " + v + ", " + value + ")";
  };
  std::string sql;
  switch (input.below(8)) {
    case 0:
    case 1:
      sql = insert(rule);
      break;
    case 2:
      sql = insert("") + " ON CONFLICT(id) DO UPDATE SET " + column + " = excluded." + column +
            ", n = excluded.v";
      break;
    case 3:
      sql = "UPDATE " + rule + source + " SET " + column + " = " + key_literal(input) +
            ", n = " + key_literal(input) + where;
      break;
    case 4:
      sql = "UPDATE " + rule + source + " SET v = " + key_literal(input) + where;
      break;
    case 5:
      sql = "UPDATE " + rule + source + " SET id = id + " + std::to_string(input.below(4));
      break;
    case 6:
      sql = "DELETE FROM " + source + (input.below(4) == 0 ? "" : where);
      break;
    default:
      return change_search(input);
  }
  const int code = run(sql);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_CONSTRAINT && !triggers_changed_) {
    fail_with_log("a change of the source failed, but not because of a constraint");
  }
}

// Or a setting that decides which triggers fire.
void World::change_search(Input& input) {
  constexpr std::array kStatements = {"PRAGMA recursive_triggers = ON",
                                      "PRAGMA recursive_triggers = OFF",
                                      "INSERT INTO search(search) VALUES ('summarize')",
                                      "INSERT INTO search(search) VALUES ('rebuild')"};
  if (run(kStatements.at(input.below(kStatements.size()))) != SQLITE_OK && !triggers_changed_) {
    fail_with_log("the search table refuses a command");
  }
  check_search();
}

void World::change_triggers(unsigned slot, Input& input) {
  constexpr std::array kSuffixes = {"_before_insert", "_before_update", "_after_insert",
                                    "_after_update", "_after_delete"};
  constexpr std::array kTimes = {"BEFORE INSERT", "AFTER INSERT", "AFTER UPDATE", "AFTER DELETE"};
  constexpr std::array kBodies = {
      "SELECT RAISE(IGNORE)",
      "SELECT RAISE(FAIL, 'no')",
      "SELECT RAISE(ABORT, 'no')",
      "SELECT RAISE(ROLLBACK, 'no')",
      "INSERT INTO @($, v) VALUES ('by a trigger', 't')",
      "DELETE FROM @ WHERE id = 3",
      "UPDATE @ SET $ = 'by a trigger', v = 't', n = 'by a trigger' WHERE id = 5",
  };
  triggers_changed_ = true;
  switch (input.below(4)) {
    case 0:
      run("DROP TRIGGER " + quoted(name(slot) + kSuffixes.at(input.below(kSuffixes.size()))));
      return;
    case 1:
      run(with_names(std::string("CREATE TRIGGER u ") + kTimes.at(input.below(kTimes.size())) +
                     " ON @ WHEN (SELECT count(*) FROM @) % 2 BEGIN " +
                     kBodies.at(input.below(kBodies.size())) + "; END"));
      return;
    case 2:
      run("DROP TRIGGER u");
      return;
    default:
      run("DROP TABLE " + quoted(name(kSource)));
      must_run(kCreateSource);
      must_run("UPDATE named SET name = substr('sk', slot - 1, 1) WHERE slot IN (2, 3)");
  }
}

void World::change_transaction(Input& input) {
  constexpr std::array kStatements = {"BEGIN",
                                      "BEGIN IMMEDIATE",
                                      "COMMIT",
                                      "ROLLBACK",
                                      "SAVEPOINT a",
                                      "SAVEPOINT b",
                                      "ROLLBACK TO a",
                                      "RELEASE a",
                                      "ROLLBACK TO b",
                                      "RELEASE b",
                                      "VACUUM",
                                      "PRAGMA writable_schema = RESET",
                                      "CREATE TABLE other(x)",
                                      "DROP TABLE other"};
  run(kStatements.at(input.below(kStatements.size())));
  check();
}

// Keeps a lookup that is prepared now. It must also work after later changes of the schema.
void World::prepare_lookup(unsigned slot) {
  prepared_lookups_[slot] = std::make_unique<Statement>(
      database_, "SELECT 1 FROM " + quoted(name(slot)) + " WHERE key = ?1");
  log_ += "-- a lookup in " + name(slot) + " is prepared\n";
}

void World::check() {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    check_slot(slot);
    if (prepared_lookups_[slot]) {
      check_prepared_lookup(slot);
    }
  }
  check_search();
}

// Each row must be found by its key.
void World::check_search() {
  const std::int64_t lost = number(
      with_names("SELECT count(*) FROM @ AS r WHERE r.$ IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
                 "search WHERE search.$ = r.$ AND search.id = r.id)"));
  if (lost != 0 && !(lost == -1 && triggers_changed_)) {
    fail_with_log("the search table lost " + std::to_string(lost) + " rows");
  }
}

World::Keys World::keys(unsigned slot) {
  const char* const key = form(slot).source_key;
  return key == nullptr ? Keys{mirror(slot), "r.k"} : Keys{quoted(name(kSource)), with_names(key)};
}

// Returns how many rows a join with the bloom table returns, or -1 if it is refused.
std::int64_t World::count_found(unsigned slot, const std::string& rows, const std::string& key) {
  return number("SELECT count(*) FROM " + rows + " AS r JOIN " + quoted(name(slot)) +
                " AS b ON b.key = " + key);
}

void World::check_slot(unsigned slot) {
  const auto [rows, key] = keys(slot);
  const std::int64_t there = number("SELECT count(" + key + ") FROM " + rows + " AS r");
  std::int64_t found = count_found(slot, rows, key);
  if (found == there && form(slot).nocase) {
    found = count_found(slot, rows,
                        "iif(typeof(" + key + ") = 'text', upper(" + key + "), " + key + ")");
  }
  // Only a table that follows a source may refuse lookups.
  const bool may_refuse = triggers_changed_ && form(slot).source_key != nullptr;
  if (found != there && !(found == -1 && may_refuse)) {
    fail_with_log(name(slot) + " finds " + std::to_string(found) + " keys of " +
                  std::to_string(there));
  }
}

void World::check_prepared_lookup(unsigned slot) {
  Statement& lookup = *prepared_lookups_[slot];
  const auto [rows, key] = keys(slot);
  Statement all(database_, "SELECT " + key + " FROM " + rows + " AS r WHERE " + key +
                               " IS NOT NULL ORDER BY rowid DESC LIMIT 5");
  while (all.step() == SQLITE_ROW) {
    const int code = lookup.bind(1, all.value(0)).step();
    lookup.reset();
    if (code == SQLITE_DONE) {
      fail_with_log(name(slot) + " does not find a key in a lookup that was prepared before");
    }
    if (code != SQLITE_ROW) {
      break;
    }
  }
}

}  // namespace bloom::fuzz
