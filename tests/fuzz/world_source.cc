// Names, the source that bloom tables follow, transactions, and what must hold.
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
  must_run(which == kColumn ? "ALTER TABLE " + quoted(name(kSource)) + " RENAME COLUMN " +
                                  old_name + " TO " + new_name
                            : "ALTER TABLE " + quoted(old_name) + " RENAME TO " + quoted(new_name));
  must_run(note(new_name, which));
}

void World::change_source(Input& input) {
  constexpr std::array kRules = {"", "OR IGNORE ", "OR REPLACE ", "OR FAIL ", "OR ROLLBACK "};
  const std::string source = quoted(name(kSource));
  const std::string column = name(kColumn);
  const std::string rule = kRules.at(input.below(kRules.size()));
  const std::string where = " WHERE id = " + std::to_string(input.below(8));
  const auto insert = [&](const std::string& or_rule) {
    const std::string id = input.flag() ? "NULL" : std::to_string(input.below(8));
    const std::string value = key(input);
    const std::string v = input.below(8) == 0 ? "NULL" : key(input);
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
      sql = "UPDATE " + rule + source + " SET " + column + " = " + key(input) +
            ", n = " + key(input) + where;
      break;
    case 4:
      sql = "UPDATE " + rule + source + " SET v = " + key(input) + where;
      break;
    case 5:
      sql = "UPDATE " + rule + source + " SET id = id + " + std::to_string(input.below(4));
      break;
    case 6:
      sql = "DELETE FROM " + source + (input.below(4) == 0 ? "" : where);
      break;
    default:
      sql = input.flag() ? "PRAGMA recursive_triggers = ON" : "PRAGMA recursive_triggers = OFF";
  }
  const int code = run(sql);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_CONSTRAINT && !meddled_) {
    broken("only constraints keep a source from being changed");
  }
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
  meddled_ = true;
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

// A statement that was prepared before the schema changed must notice.
void World::hold(unsigned slot) {
  held_[slot] = std::make_unique<Statement>(
      database_, "SELECT 1 FROM " + quoted(name(slot)) + " WHERE key = ?1");
  log_ += "-- a question to " + name(slot) + " is prepared\n";
}

void World::check() {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    check_slot(slot);
    if (held_[slot]) {
      check_held(slot);
    }
  }
}

World::Keys World::keys(unsigned slot) {
  const char* const key = form(slot).key;
  return key == nullptr ? Keys{mirror(slot), "r.k"} : Keys{quoted(name(kSource)), with_names(key)};
}

// How many rows a join with the bloom table lets through, or -1 if it is refused.
std::int64_t World::answered(unsigned slot, const std::string& rows, const std::string& key) {
  return number("SELECT count(*) FROM " + rows + " AS r JOIN " + quoted(name(slot)) +
                " AS b ON b.key = " + key);
}

void World::check_slot(unsigned slot) {
  const auto [rows, key] = keys(slot);
  const std::int64_t there = number("SELECT count(" + key + ") FROM " + rows + " AS r");
  std::int64_t found = answered(slot, rows, key);
  if (found == there && form(slot).nocase) {
    found =
        answered(slot, rows, "iif(typeof(" + key + ") = 'text', upper(" + key + "), " + key + ")");
  }
  // Only a table that follows another may refuse.
  const bool may_refuse = meddled_ && form(slot).key != nullptr;
  if (found != there && !(found == -1 && may_refuse)) {
    broken(name(slot) + " answers " + std::to_string(found) + " of " + std::to_string(there));
  }
}

void World::check_held(unsigned slot) {
  Statement& ask = *held_[slot];
  const auto [rows, key] = keys(slot);
  Statement all(database_, "SELECT " + key + " FROM " + rows + " AS r WHERE " + key +
                               " IS NOT NULL ORDER BY rowid DESC LIMIT 5");
  while (all.step() == SQLITE_ROW) {
    const int code = ask.bind(1, all.value(0)).step();
    ask.reset();
    if (code == SQLITE_DONE) {
      broken(name(slot) + " does not answer a statement that was prepared before");
    }
    if (code != SQLITE_ROW) {
      break;
    }
  }
}

}  // namespace bloom::fuzz
