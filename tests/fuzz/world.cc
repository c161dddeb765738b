#include "tests/fuzz/world.h"

#include <array>
#include <string>
#include <string_view>

namespace bloom::fuzz {
namespace {

// `@` stands for the name of the source, `$` for that of its first column.
constexpr std::array kForms = {
    Form{"capacity=200", "bloom_create(200)", false, nullptr},
    Form{"capacity=20, fpr=0.5", "bloom_create(20, 0.5)", false, nullptr},
    Form{"cells=70000, hashes=3, cache=4096", "bloom_create_sized(70000, 3)", false, nullptr},
    Form{"capacity=100, kind=partitioned", "bloom_create(100, 0.01, 'partitioned')", false,
         nullptr},
    Form{"capacity=50, kind=counting", "bloom_create(50, 0.01, 'counting')", true, nullptr},
    Form{"cells=64, hashes=2, kind=counting", "bloom_create_sized(64, 2, 'counting')", true,
         nullptr},
    Form{"cells=30002, hashes=3, block=15001, kind=counting, cache=8192",
         "bloom_create_sized(30002, 3, 'counting', 15001)", true, nullptr},
    Form{"", nullptr, false, nullptr},
    Form{"capacity=32, growth=on, fpr=0.3, block=64", nullptr, false, nullptr},
    Form{"capacity=32, growth=on, cache=4096, collate=nocase", nullptr, false, nullptr, true},
    Form{"capacity=300, fpr=0.03, generations=3", "bloom_create(100, 0.01)", false, nullptr, false,
         3},
    Form{"capacity=20000, fpr=0.02, generations=2, cache=4096", "bloom_create(10000, 0.01)", false,
         nullptr, false, 2},
    Form{"source=@, column=$", nullptr, false, "r.$"},
    Form{"writers=extension, source=@, column=$", nullptr, false, "r.$"},
    Form{"source=@, column=$, kind=counting", nullptr, true, "r.$"},
    Form{"source=@, column=($, v), capacity=50", nullptr, false, "bloom_key(r.$, r.v)"},
    Form{"source=@, column=(v, $), kind=counting", nullptr, true, "bloom_key(r.v, r.$)"},
    Form{"writers=extension, source=@, column=id, capacity=20", nullptr, false, "r.id"},
    Form{"writers=extension, source=@, column=g", nullptr, false, "r.g"},
    Form{"writers=extension, source=@, column=n", nullptr, false, "r.n", true},
    Form{"writers=extension, source=@, column=n, kind=counting", nullptr, true, "r.n", true},
};
constexpr unsigned kFormsWithoutSource = 12;  // they come first

// SQL literals. All literals of a row have the same key.
constexpr std::array<std::array<const char*, 4>, 16> kKeys = {{
    {"0", "'0'", "-0.0", "x'30'"},
    {"7", "'7'", "7.0", "x'37'"},
    {"-7", "'-7'", "-7.0", "x'2d37'"},
    {"1000000", "'1000000'", "1e6", "x'31303030303030'"},
    {"9007199254740993", "'9007199254740993'", "9007199254740993", "'9007199254740993'"},
    {"9223372036854775808", "'9223372036854775808'", "9.2233720368547758e18", "-(-1 << 63)"},
    {"0.5", "'0.5'", "5e-1", "x'302e35'"},
    {"1e-7", "'1e-07'", "0.0000001", "x'31652d3037'"},
    {"9e999", "'Inf'", "1e400", "x'496e66'"},
    {"'abc'", "x'616263'", "'ab' || 'c'", "lower('ABC')"},
    {"'ABC'", "x'414243'", "upper('abc')", "'ABC'"},
    {"'abc  '", "x'6162632020'", "'abc' || '  '", "'abc  '"},
    {"''", "x''", "zeroblob(0)", "substr('a', 2)"},
    {"'a' || char(0) || 'b'", "x'610062'", "CAST(x'610062' AS TEXT)", "x'610062'"},
    {"CAST(x'c328' AS TEXT)", "x'c328'", "CAST('' || x'c328' AS BLOB)", "x'c328'"},
    {"printf('%0600d', 1)", "printf('%0600d', 1)", "printf('%0600d', 1)",
     "CAST(printf('%0600d', 1) AS BLOB)"},
}};

constexpr const char* kCreate =
    "CREATE TABLE named(slot INTEGER PRIMARY KEY, name, form);"
    "INSERT INTO named VALUES (0, 'b0', 0), (1, 'b1', 4), (2, 's', 0), (3, 'k', 0);"
    "CREATE TABLE m0(k, age DEFAULT 0); CREATE TABLE m1(k, age DEFAULT 0);"
    "CREATE VIRTUAL TABLE b0 USING bloom(capacity=200);"
    "CREATE VIRTUAL TABLE b1 USING bloom(capacity=50, kind=counting)";

}  // namespace

std::string key_literal(Input& input) {
  const unsigned choice = input.byte();
  return kKeys.at(choice / 4 % kKeys.size()).at(choice % 4);
}

std::string quoted(const std::string& name) { return '"' + name + '"'; }

std::string mirror(unsigned slot) { return "m" + std::to_string(slot); }

std::string insert_into_mirror(unsigned slot) { return "INSERT INTO " + mirror(slot) + "(k) "; }

std::string World::with_names(std::string_view text) {
  std::string result;
  for (const char c : text) {
    c == '@'   ? result.append(quoted(name(kSource)))
    : c == '$' ? result.append(name(kColumn))
               : result.append(1, c);
  }
  return result;
}

// Creates the database once and copies it: creating it again would take most of the time.
World::World() {
  static const std::string image = [] {
    BoundedDatabase database;
    database.must_execute(kCreate);
    database.must_execute(kCreateSource);
    database.must_execute(
        "CREATE VIRTUAL TABLE search USING bloom_search(source=s, equal=(k), like=(k))");
    return database.image();
  }();
  database_.restore(image);
}

void World::fail_with_log(const std::string& what) {
  fail("after\n" + log_ + "-- " + what + ": " + database_.error());
}

int World::run(const std::string& sql) {
  log_ += sql + ";\n";
  return database_.execute(sql);
}

void World::must_run(const std::string& sql) {
  if (run(sql) != SQLITE_OK) {
    fail_with_log("this statement failed");
  }
}

void World::run_both(const std::string& sql, const std::string& on_mirror) {
  must_run(sql);
  must_run(on_mirror);
}

std::int64_t World::number(const std::string& sql) {
  Statement statement(database_, sql);
  const int code = statement.is_prepared() ? statement.step() : SQLITE_ERROR;
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    log_ += "-- " + sql + ": " + database_.error() + "\n";
  }
  return code == SQLITE_ROW ? statement.integer(0) : -1;
}

std::string World::name(unsigned slot) {
  Statement find(database_, "SELECT name FROM named WHERE slot = ?1");
  require(find.bind(1, std::int64_t{slot}).step() == SQLITE_ROW, "a table has no name");
  return std::string(find.text(0));
}

const Form& World::form(unsigned slot) {
  return kForms.at(static_cast<std::size_t>(
      number("SELECT form FROM named WHERE slot = " + std::to_string(slot))));
}

void World::step(Input& input) {
  const unsigned slot = input.below(kSlots);
  const bool has_own_keys = form(slot).source_key == nullptr;
  const unsigned choice = input.below(16);
  if (choice < 5) {
    has_own_keys ? change_keys(slot, input) : change_source(input);
  } else if (choice < 7) {
    has_own_keys ? remove(slot, input) : change_source(input);
  } else if (choice < 10) {
    change_transaction(input);
  } else if (choice == 10) {
    has_own_keys ? merge(slot, input) : change_triggers(slot, input);
  } else if (choice == 11) {
    has_own_keys ? refuse_null(slot, input) : change_source(input);
  } else if (choice == 12) {
    command(slot, input);
  } else if (choice == 13) {
    rename(slot, input);
  } else if (choice == 14) {
    replace_table(slot, input.below(kForms.size()));
  } else {
    prepare_lookup(slot);
  }
}

// Replaces a bloom table by one of another form.
void World::replace_table(unsigned slot, unsigned form) {
  const std::string table = quoted(name(slot));
  must_run("SAVEPOINT make");
  must_run("DROP TABLE " + table);
  const int code = run("CREATE VIRTUAL TABLE " + table + " USING bloom(" +
                       with_names(kForms.at(form).options) + ")");
  if (code != SQLITE_OK) {
    if (form < kFormsWithoutSource || !triggers_changed_) {
      fail_with_log("the table cannot be created");
    }
    must_run("ROLLBACK TO make");
  } else {
    must_run("DELETE FROM " + mirror(slot));
    must_run("UPDATE named SET form = " + std::to_string(form) +
             " WHERE slot = " + std::to_string(slot));
  }
  must_run("RELEASE make");
}

void World::change_keys(unsigned slot, Input& input) {
  const std::string table = quoted(name(slot));
  const std::string into = table + "(key) ";
  const std::string into_mirror = insert_into_mirror(slot);
  const std::string values = "VALUES (" + key_literal(input) + ")";
  switch (input.below(5)) {
    case 0:
    case 1:
      return run_both("INSERT INTO " + into + values, into_mirror + values);
    case 2: {
      const std::string many =
          values + ", (" + key_literal(input) + "), (" + key_literal(input) + ")";
      return run_both("INSERT OR REPLACE INTO " + into + many, into_mirror + many);
    }
    case 3: {
      must_run("INSERT OR IGNORE INTO " + into + values);
      const bool added = number("SELECT changes()") == 1;
      // OR IGNORE neither counts a present key again nor adds it to the newest generation. In other
      // forms, adding a key again has no effect.
      const bool may_repeat = !form(slot).counting && form(slot).generations == 0;
      return added || may_repeat ? must_run(into_mirror + values) : void();
    }
    default: {
      const std::string first = std::to_string(input.byte());
      const std::string many = "WITH RECURSIVE n(i) AS (SELECT " + first +
                               " UNION ALL SELECT i + 1 FROM n LIMIT " +
                               std::to_string(input.byte()) + ") INSERT INTO ";
      return run_both(many + into + "SELECT 'n' || i FROM n",
                      many + mirror(slot) + "(k) SELECT 'n' || i FROM n");
    }
  }
}

// Removes only keys that were added: removing a false positive could remove other keys.
void World::remove(unsigned slot, Input& input) {
  const std::string table = quoted(name(slot));
  const std::string old_key = key_literal(input);
  const std::string same =
      " FROM " + mirror(slot) + " WHERE bloom_key(k) = bloom_key(" + old_key + ")";
  const bool there = number("SELECT count(*)" + same) > 0;
  const std::string where = " WHERE key = " + old_key;
  if (!form(slot).counting) {
    if (run("DELETE FROM " + table + where) == SQLITE_OK && there) {
      fail_with_log("a key was deleted from a table without counters");
    }
    return;
  }
  if (!there) {
    return;
  }
  const std::string one = " WHERE rowid = (SELECT rowid" + same + " LIMIT 1)";
  if (input.flag()) {
    run_both("DELETE FROM " + table + where, "DELETE FROM " + mirror(slot) + one);
  } else {
    const std::string set = " SET key = ";
    const std::string new_key = key_literal(input);
    run_both("UPDATE " + table + " SET key = " + new_key + where,
             "UPDATE " + mirror(slot) + " SET k = " + new_key + one);
  }
}

// Inserts a key and NULL, which is refused, under each conflict rule.
void World::refuse_null(unsigned slot, Input& input) {
  constexpr std::array kRules = {"ABORT", "FAIL", "ROLLBACK", "REPLACE"};
  const std::string rule = kRules.at(input.below(kRules.size()));
  const std::string value = "(" + key_literal(input) + ")";
  if (run("INSERT OR " + rule + " INTO " + quoted(name(slot)) + "(key) VALUES " + value +
          ", (NULL)") != SQLITE_CONSTRAINT_NOTNULL) {
    fail_with_log("NULL was not refused as a key");
  }
  if (rule == "FAIL") {
    must_run(insert_into_mirror(slot) + "VALUES " + value);
  }
}

void World::merge(unsigned slot, Input& input) {
  const char* const filter = form(slot).empty_filter;
  const std::string into = "INSERT INTO " + quoted(name(slot)) + "(filter) ";
  const std::string into_mirror = insert_into_mirror(slot);
  if (filter == nullptr) {
    if (run(into + "VALUES (bloom_create(100))") == SQLITE_OK) {
      fail_with_log("a filter was merged into a table that grows");
    }
  } else if (input.flag() || form(slot).generations != 0) {
    const std::string one = key_literal(input);
    run_both(into + "VALUES (bloom_add(" + filter + ", " + one + "))",
             into_mirror + "VALUES (" + one + ")");
  } else if (number("SELECT count(*) FROM " + mirror(slot)) < 1000) {
    run_both(into + "SELECT filter FROM " + quoted(name(slot)),
             into_mirror + "SELECT k FROM " + mirror(slot));
  }
}

void World::command(unsigned slot, Input& input) {
  const std::string table = quoted(name(slot));
  const bool follows = form(slot).source_key != nullptr;
  const std::string give = "INSERT INTO " + table + "(" + table + ") VALUES ";
  switch (input.below(6)) {
    case 0:
      run(input.flag() ? give + "('halve')"
                       : "INSERT INTO " + table + "(" + table + ", fpr) VALUES ('fold', 0.5)");
      return;
    case 1:
      if (!follows) {
        return run_both(give + "('clear')", "DELETE FROM " + mirror(slot));
      }
      if (run(give + "('merge')") != SQLITE_OK && !triggers_changed_) {
        fail_with_log("pending changes cannot be merged");
      }
      return;
    case 2:
      if ((run(give + "('rebuild')") == SQLITE_OK) != follows && !triggers_changed_) {
        fail_with_log("'rebuild' must succeed in a table with a source, and only there");
      }
      return;
    case 3:
      return rotate(slot);
    case 4:
      if (run("SELECT json_valid(info), keys, fpr, overfull, pending FROM " + table) != SQLITE_OK &&
          !triggers_changed_) {
        fail_with_log("the properties cannot be read");
      }
      return;
    default:
      if (run(give + "('integrity-check')") != SQLITE_OK && !triggers_changed_) {
        fail_with_log("'integrity-check' failed");
      }
  }
}

// The mirror forgets the keys of the oldest generation.
void World::rotate(unsigned slot) {
  const std::string table = quoted(name(slot));
  const std::string rotate = "INSERT INTO " + table + "(" + table + ") VALUES ('rotate')";
  const unsigned generations = form(slot).generations;
  if (generations == 0) {
    if (run(rotate) == SQLITE_OK) {
      fail_with_log("a table without generations was rotated");
    }
    return;
  }
  must_run("DELETE FROM " + mirror(slot) + " WHERE age >= " + std::to_string(generations - 1));
  run_both("UPDATE " + mirror(slot) + " SET age = age + 1", rotate);
}

}  // namespace bloom::fuzz
