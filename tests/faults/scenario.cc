#include "tests/faults/scenario.h"

#include <sqlite3.h>

#include <algorithm>

namespace bloom::faults {
namespace {

// A query of the keys from `first` to `last`.
std::string keys(int first, int last) {
  return "WITH RECURSIVE n(i) AS (SELECT " + std::to_string(first) +
         " UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(last) +
         ") SELECT 'k' || i AS k FROM n";
}

std::string insert(const std::string& into, int first, int last) {
  return "INSERT INTO " + into + " " + keys(first, last);
}

std::vector<std::string> functions() {
  return {
      "CREATE TABLE f(kind, filter)",
      R"(INSERT INTO f SELECT column1, bloom_add(bloom_create(300, 0.01, column1), 'k1',
          2, x'03', 4.5) FROM (VALUES ('standard'), ('counting'), ('partitioned')))",
      "INSERT INTO f VALUES ('large', bloom_create_sized(800000, 5, 'standard', 8000, 7))",
      R"(SELECT kind, bloom_contains(filter, 'k1'), bloom_contains_all(filter, 'k1', 2,
          5), bloom_contains_any(filter, 'k3', 'k1') FROM f)",
      R"(SELECT bloom_contains((SELECT bloom_open(filter) FROM f AS g WHERE g.kind =
          'counting'), kind) FROM f)",
      "SELECT kind, bloom_info(filter), bloom_check(filter), bloom_count(filter) FROM f",
      "SELECT bloom_fpr(filter), bloom_capacity(8000, 5, 0.01) FROM f",
      R"(SELECT bloom_union(filter, bloom_add(filter, 'k9')), bloom_intersect(filter,
          filter), bloom_halve(filter), bloom_fold(filter, 0.5), bloom_standard(filter) FROM f WHERE kind <>
          'partitioned')",
      "SELECT bloom_apply(filter, bloom_delta(filter, bloom_add(filter, 'k8'))) FROM f",
      "UPDATE f SET filter = bloom_remove(filter, 'k1') WHERE kind = 'counting'",
      "SELECT bloom_union(filter), bloom_intersect(filter) FROM f GROUP BY kind",
      R"(SELECT bloom_build(x), bloom_build(x, 500), bloom_build(x, 500, 0.001),
          bloom_build(x, 500, 0.01, 'counting'), bloom_build(x, bloom_create(500)) FROM (SELECT column1 AS x FROM (VALUES
          (1), (2), (3))))",
      "INSERT INTO f SELECT 'built', bloom_build(k) FROM (" + keys(1, 300) + ")",
      "SELECT kind, hashes, bytes FROM bloom_plan(100000, 0.01)",
      "SELECT * FROM bloom_positions((SELECT filter FROM f LIMIT 1), 'k1')",
      R"(SELECT bloom_key('k1', 2, NULL), bloom_bits(1000, 0.01), bloom_hashes(9600,
          1000), bloom_rate(9600, 1000, 7), bloom_rate(9600, 1000, 6, 'partitioned'),
          bloom_version(), length(bloom_debug()) > 0)",
      "SELECT bloom_add(filter, 'k1', CAST('k2' AS BLOB), 3) FROM f",
  };
}

// Everything that is written to a table itself. `options` make a table of several chunks.
std::vector<std::string> table(const std::string& options, bool counting) {
  const std::string removal =
      counting ? "DELETE FROM t WHERE key = 'k5'" : "SELECT key FROM t WHERE key = 'k5'";
  const std::string replacement =
      counting ? "UPDATE t SET key = 'k301' WHERE key = 'k6'" : "SELECT info FROM t";
  return {
      "CREATE VIRTUAL TABLE t USING bloom(" + options + ")",
      insert("t(key)", 0, 60),
      "INSERT INTO t(key) VALUES ('k61'), ('k62')",
      kRefusedStep + "INSERT INTO t(key) VALUES ('k63'), (NULL)",
      "BEGIN",
      insert("t(key)", 70, 130),
      "SAVEPOINT a",
      insert("t(key)", 140, 200),
      removal,
      "SAVEPOINT b",
      insert("t(key)", 210, 260),
      "ROLLBACK TO b",
      "INSERT INTO t(key) VALUES ('k261')",
      "RELEASE a",
      "CREATE TABLE seen(k)",
      insert("seen", 100, 150),
      "COMMIT",
      "BEGIN",
      insert("t(key)", 262, 280),
      "ROLLBACK",
      "INSERT OR IGNORE INTO t(key) VALUES ('k281'), ('k281'), (NULL)",
      removal,
      replacement,
      "SELECT count(*) FROM seen JOIN t ON t.key = seen.k",
      "SELECT key FROM t WHERE key IN ('k1', 'k282', 'k390')",
      "INSERT INTO t(filter) SELECT filter FROM t",
      "CREATE TABLE kept AS SELECT hex(filter) FROM t",
      "INSERT INTO t(t) VALUES ('integrity-check')",
      "ALTER TABLE t RENAME TO u",
      "ALTER TABLE u RENAME TO t",
      "BEGIN",
      "SAVEPOINT a",
      "INSERT INTO t(t) VALUES ('halve')",
      "INSERT INTO t(key) VALUES ('k290')",
      "ROLLBACK TO a",
      "INSERT INTO t(t) VALUES ('halve')",
      "COMMIT",
      "INSERT INTO t(t, fpr) VALUES ('fold', 0.2)",
      "INSERT INTO t(key) VALUES ('k291')",
      "INSERT INTO t(t) VALUES ('clear')",
      insert("t(key)", 292, 300),
      "BEGIN",
      "INSERT INTO t(key) VALUES ('k302')",
      "DROP TABLE t",
      "CREATE VIRTUAL TABLE t USING bloom(" + options + ")",
      "INSERT INTO t(key) VALUES ('k301')",
      "COMMIT",
      "DROP TABLE t",
  };
}

std::vector<std::string> growth() {
  return {
      "CREATE VIRTUAL TABLE g USING bloom(capacity=32, growth=on, cache=4096)",
      insert("g(key)", 0, 45),
      "BEGIN",
      "INSERT INTO g(key) VALUES ('k50')",
      "SAVEPOINT s",
      insert("g(key)", 60, 160),
      "ROLLBACK TO s",
      insert("g(key)", 60, 180),
      "RELEASE s",
      "SELECT info FROM g",
      "SELECT keys, fpr, bytes, overfull, layers FROM g",
      insert("g(key)", 180, 220),
      "COMMIT",
      "INSERT INTO g(key) VALUES ('k230')",
      "INSERT OR IGNORE INTO g(key) VALUES ('k230'), ('k231')",
      "ALTER TABLE g RENAME TO h",
      insert("h(key)", 240, 330),
      "INSERT INTO h(h) VALUES ('clear')",
      insert("h(key)", 0, 20),
      "DROP TABLE h",
  };
}

std::vector<std::string> generations() {
  return {
      "CREATE VIRTUAL TABLE t USING bloom(capacity=15000, generations=3, cache=8192)",
      insert("t(key)", 0, 60),
      "INSERT INTO t(t) VALUES ('rotate')",
      insert("t(key)", 40, 100),
      "BEGIN",
      "INSERT INTO t(key) VALUES ('k101')",
      "SAVEPOINT a",
      "INSERT INTO t(t) VALUES ('rotate')",
      insert("t(key)", 110, 150),
      "SELECT key FROM t WHERE key IN ('k1', 'k50', 'k101', 'k300')",
      "ROLLBACK TO a",
      insert("t(key)", 110, 130),
      "INSERT INTO t(t) VALUES ('rotate')",
      "RELEASE a",
      "COMMIT",
      "INSERT OR IGNORE INTO t(key) VALUES ('k1'), ('k140'), ('k140'), (NULL)",
      "BEGIN",
      "INSERT INTO t(t) VALUES ('rotate')",
      "INSERT INTO t(key) VALUES ('k160')",
      "ROLLBACK",
      "INSERT INTO t(t, key) VALUES ('rotate', NULL), (NULL, 'k161'), ('rotate', NULL)",
      kRefusedStep + "INSERT INTO t(t, key) VALUES ('rotate', NULL), (NULL, 'k163'), (NULL, NULL)",
      "SELECT keys, fpr, bytes, overfull, generations, info FROM t",
      "INSERT INTO t(filter) VALUES (bloom_add(bloom_create(5000, 0.01 / 3), 'k170'))",
      "INSERT INTO t(t) VALUES ('integrity-check')",
      "ALTER TABLE t RENAME TO u",
      "INSERT INTO u(u) VALUES ('rotate')",
      insert("u(key)", 180, 200),
      "INSERT INTO u(u) VALUES ('clear')",
      "INSERT INTO u(key) VALUES ('k201')",
      "INSERT INTO u(u) VALUES ('rotate')",
      "DROP TABLE u",
  };
}

// Statements of one row in a transaction, which go to the row log. `row(i)`: the INSERT of key i.
// `renames`: after a failed rename, a bloom_groups table compares the keys of its log exactly, and
// so has fewer false positives than the undisturbed run.
template <typename Row>
std::vector<std::string> rows(const std::string& create, const std::string& removal, Row row,
                              bool renames) {
  std::vector<std::string> steps = {create};
  const auto add = [&](int first, int last) {
    for (int i = first; i <= last; ++i) {
      steps.push_back(row(i));
    }
  };
  const auto append = [&](const std::vector<std::string>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  append({"BEGIN"});
  add(0, 40);
  append({"SAVEPOINT a"});
  add(50, 56);
  append(
      {"SELECT count(*) FROM t WHERE key IN ('k1', 'k30', 'k55', 'k399')", removal, "SAVEPOINT b"});
  add(60, 62);
  append({"ROLLBACK TO b"});
  add(63, 65);
  append({"INSERT INTO t(t) VALUES ('integrity-check')"});
  add(70, 73);
  append({"ROLLBACK TO a"});
  add(80, 84);
  append({removal, "COMMIT", "BEGIN"});
  add(90, 104);
  append({"CREATE TABLE x(a)"});
  if (renames) {
    append({"ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t"});
  }
  add(105, 108);
  append({"ROLLBACK", "DROP TABLE t"});
  return steps;
}

std::vector<std::string> rows(const std::string& options, bool counting) {
  return rows(
      "CREATE VIRTUAL TABLE t USING bloom(" + options + ")",
      counting ? "DELETE FROM t WHERE key = 'k5'" : "SELECT key FROM t WHERE key = 'k5'",
      [](int i) { return "INSERT INTO t(key) VALUES ('k" + std::to_string(i) + "')"; }, true);
}

std::vector<std::string> rows_of_groups() {
  return rows(
      "CREATE VIRTUAL TABLE t USING bloom_groups(capacity=30, fpr=0.4)",
      "DELETE FROM t WHERE member = 'm1'",
      [](int i) {
        return "INSERT INTO t(member, key) VALUES ('m" + std::to_string(i % 7) + "', 'k" +
               std::to_string(i) + "')";
      },
      false);
}

// Members that have the keys from `first` to `last`, one each.
std::string members(int first, int last) {
  return "INSERT INTO t(member, key) SELECT 'm' || substr(k, 2), k FROM (" + keys(first, last) +
         ")";
}

// k = 1, so that 'optimize' merges three segments. With this seed no key is a false positive of
// those that an interrupted COMMIT leaves in the row log.
std::vector<std::string> groups() {
  return {
      "CREATE VIRTUAL TABLE t USING bloom_groups(capacity=30, fpr=0.4, seed=21)",
      "INSERT INTO t(member, key) VALUES ('a', 'k1')",
      "INSERT INTO t(member, key) VALUES ('a', 'k2'), ('b', 'k3'), ('c', NULL)",
      kRefusedStep + "INSERT INTO t(member, key) VALUES ('d', 'k4'), (NULL, 'k5')",
      "BEGIN",
      members(10, 80),
      "SAVEPOINT a",
      "INSERT INTO t(member, key) VALUES ('new', 'k81')",
      "INSERT INTO t(member, key) VALUES ('a', 'k82')",
      members(83, 90),
      "DELETE FROM t WHERE member IN ('m12', 'm13')",
      "ROLLBACK TO a",
      "INSERT INTO t(member, key) VALUES ('newer', 'k91'), ('newer', 'k92'), ('m10', 'k93')",
      "RELEASE a",
      "COMMIT",
      members(100, 230),
      "INSERT INTO t(t) VALUES ('optimize')",
      "INSERT INTO t(member, key) VALUES ('m10', 'k240'), ('newest', 'k241')",
      "INSERT OR IGNORE INTO t(member, key) VALUES ('m10', 'k240'), ('other', 'k242')",
      "DELETE FROM t WHERE member = 'm20'",
      "DELETE FROM t WHERE member = 'newest'",
      "UPDATE t SET member = 'renamed' WHERE member = 'm21'",
      "INSERT INTO t(member, filter) SELECT 'copy', filter FROM t WHERE member = 'm10'",
      "INSERT INTO t(member, filter) SELECT 'm22', filter FROM t WHERE member = 'copy'",
      "BEGIN",
      "INSERT INTO t(t) VALUES ('optimize')",
      "INSERT INTO t(member, key) VALUES ('in m20', 'k243')",
      "SAVEPOINT b",
      "DELETE FROM t WHERE member LIKE 'm1%'",
      "ROLLBACK TO b",
      "COMMIT",
      "SELECT member, keys, fpr, bytes, overfull, info FROM t",
      "SELECT length(filter) FROM t WHERE member = 'copy'",
      "SELECT count(*) FROM t WHERE key IN ('k10', 'k240', 'k399')",
      "DELETE FROM t WHERE member LIKE 'm1%' OR member LIKE 'm2%'",
      "INSERT INTO t(t) VALUES ('optimize')",
      "SELECT count(*) FROM t WHERE key IN ('k30', 'k40', 'k240')",
      "CREATE TABLE x(a UNIQUE)",
      "CREATE TRIGGER r AFTER INSERT ON x BEGIN INSERT INTO t(member, key) SELECT 'x', new.a; END",
      "INSERT INTO x VALUES ('k250'), ('k251'), ('k252')",
      kRefusedStep + "INSERT INTO x VALUES ('k253'), ('k250')",
      "ALTER TABLE t RENAME TO u",
      "INSERT INTO u(u) VALUES ('integrity-check')",
      "INSERT INTO u(u) VALUES ('clear')",
      "INSERT INTO u(member, key) VALUES ('last', 'k300')",
      "DROP TRIGGER r",
      "DROP TABLE u",
  };
}

// Rows, texts and an expression that fails for a row.
std::vector<std::string> search() {
  return {
      "CREATE TABLE s(id INTEGER PRIMARY KEY, k, n)",
      insert("s(k)", 0, 140),
      "CREATE VIRTUAL TABLE t USING bloom_search(source=s, words=k, equal=(k, abs(n) AS m))",
      insert("s(k)", 141, 150),
      "UPDATE s SET k = 'k151' WHERE id IN (3, 30)",
      "INSERT INTO s(id, k) VALUES (-1, 'k152'), (9223372036854775807, 'k153')",
      "SELECT id FROM t WHERE k = 'k151' OR k LIKE '%k152%' OR k MATCH 'k100' ORDER BY id DESC",
      "BEGIN",
      "INSERT INTO t(t) VALUES ('summarize')",
      "SAVEPOINT a",
      "DELETE FROM s WHERE id > 145",
      "INSERT INTO s(k) VALUES ('k154'), ('k155')",
      "ROLLBACK TO a",
      "REPLACE INTO s(id, k, n) VALUES (7, 'k156', -9223372036854775807 - 1)",
      "COMMIT",
      "INSERT INTO t(t) VALUES ('summarize')",
      "INSERT INTO t(t) VALUES ('optimize')",
      "SELECT count(*) FROM t JOIN s ON s.k = t.k WHERE t.k LIKE '%k15%'",
      "SELECT ranges, pending_rows, bytes, info FROM t LIMIT 1",
      "ALTER TABLE s RENAME COLUMN k TO k2",
      "UPDATE s SET k2 = 'k158' WHERE id = 10",
      "ALTER TABLE s RENAME COLUMN k2 TO k",
      "ALTER TABLE t RENAME TO u",
      "INSERT INTO u(u) VALUES ('integrity-check')",
      "DROP TABLE u",
  };
}

// Lookups by an index, after a filter over the whole table.
std::vector<std::string> search_by_index() {
  const std::string look_up = "SELECT count(*) FROM (" + keys(0, 70) + ") AS w JOIN t ON t.k = w.k";
  return {
      "CREATE TABLE s(id INTEGER PRIMARY KEY, k TEXT UNIQUE)",
      insert("s(k)", 0, 40),
      "CREATE VIRTUAL TABLE t USING bloom_search(source=s, equal=(k, id))",
      look_up,
      insert("s(k)", 41, 50),
      look_up,
      "INSERT INTO t(t) VALUES ('summarize')",
      "DROP TABLE t",
  };
}

// The members of a source that has few, and one that is left by all rows.
std::vector<std::string> groups_of_source() {
  return {
      "CREATE TABLE s(id INTEGER PRIMARY KEY, m, k COLLATE NOCASE)",
      "INSERT INTO s(m, k) SELECT 'm' || substr(k, -1), k FROM (" + keys(0, 40) + ")",
      "CREATE VIRTUAL TABLE t USING bloom_groups(source=s, member=m, column=k, fpr=0.4)",
      "INSERT INTO s(m, k) SELECT 'n' || substr(k, -1), k FROM (" + keys(41, 60) + ")",
      "UPDATE s SET k = 'k92', m = 'moved' WHERE k = 'k2'",
      "DELETE FROM s WHERE m = 'm3'",
      "SELECT count(*) FROM s JOIN t ON t.key = s.k AND t.member = s.m",
      "BEGIN",
      "INSERT INTO s(m, k) SELECT k, k FROM (" + keys(100, 180) + ")",
      "SAVEPOINT a",
      "INSERT INTO t(t) VALUES ('rebuild')",
      "ROLLBACK TO a",
      "INSERT INTO t(t) VALUES ('merge')",
      "ROLLBACK TO a",
      "INSERT INTO s(m, k) VALUES ('m1', 'k190')",
      "COMMIT",
      "SELECT member, pending FROM t WHERE key = 'k190'",
      "INSERT INTO t(t) VALUES ('merge')",
      "DELETE FROM s WHERE k IN ('k190', 'k1')",
      "INSERT INTO t(t, member) VALUES ('rebuild', 'm1')",
      "INSERT INTO t(t) VALUES ('rebuild')",
      "INSERT INTO t(t) VALUES ('optimize')",
      "INSERT INTO t(t) VALUES ('integrity-check')",
      "DROP TABLE t",
  };
}

std::vector<std::string> source(const std::string& options) {
  const std::string create =
      "CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, " + options + ")";
  std::vector<std::string> steps = {
      "CREATE TABLE s(id INTEGER PRIMARY KEY, k UNIQUE COLLATE NOCASE, other)",
      insert("s(k)", 0, 40),
      create,
      insert("s(k)", 41, 90),
      "INSERT OR IGNORE INTO s(k) VALUES ('k1'), ('k91')",
      "UPDATE s SET k = 'k92' WHERE k = 'k2'",
      "UPDATE s SET other = 1 WHERE k = 'k3'",
      "DELETE FROM s WHERE k = 'k4'",
      "REPLACE INTO s(k) VALUES ('k5')",
      "BEGIN",
      insert("s(k)", 100, 180),
      "SAVEPOINT a",
      "DELETE FROM s WHERE id < 20",
      "INSERT INTO f(f) VALUES ('rebuild')",
      "ROLLBACK TO a",
      "INSERT INTO f(f) VALUES ('merge')",
      "SELECT count(*) FROM s JOIN f ON f.key = s.k",
      "ROLLBACK TO a",
      "INSERT INTO s(k) VALUES ('k190')",
      "ALTER TABLE s RENAME COLUMN other TO another",
      "INSERT INTO s(k) VALUES ('k191')",
      "COMMIT",
      "INSERT INTO f(f) VALUES ('merge')",
      insert("s(k)", 220, 260),
      "DELETE FROM s WHERE k = 'k221'",
      "INSERT INTO f(f) VALUES ('merge')",
      "INSERT INTO f(f) VALUES ('integrity-check')",
      "INSERT INTO f(f) VALUES ('rebuild')",
      "ALTER TABLE s RENAME TO s2",
      "ALTER TABLE s2 RENAME COLUMN k TO kk",
      "INSERT INTO s2(kk) VALUES ('k200')",
      "ALTER TABLE f RENAME TO f2",
      "DELETE FROM s2 WHERE kk = 'k200'",
      "SELECT s2.kk FROM s2 JOIN f2 ON f2.key = s2.kk WHERE s2.kk < 'k3'",
      "BEGIN",
      "DROP TABLE f2",
      "ROLLBACK",
      "INSERT INTO s2(kk) VALUES ('k201')",
      "DROP TABLE f2",
  };
  if (options.find("writers=extension") == std::string::npos) {
    const std::vector<std::string> merge_by_itself = {
        "CREATE TEMP TRIGGER merging AFTER INSERT ON main.f_pending WHEN new.id >= 4 "
        "BEGIN INSERT INTO f(f) VALUES ('merge'); END",
        insert("s(k)", 300, 310),
        "UPDATE s SET k = 'x' || k WHERE id % 16 = 0",
        "DROP TRIGGER merging",
    };
    const auto check =
        std::find(steps.begin(), steps.end(), "INSERT INTO f(f) VALUES ('integrity-check')");
    steps.insert(check, merge_by_itself.begin(), merge_by_itself.end());
  }
  return steps;
}

// Lookups of values that SQLite converts before it compares them.
std::vector<std::string> types() {
  return {
      "CREATE TABLE s(i INTEGER, t TEXT)",
      "INSERT INTO s VALUES (5, 'k')",
      "CREATE VIRTUAL TABLE numbers USING bloom(source=s, column=i, writers=extension)",
      "CREATE VIRTUAL TABLE texts USING bloom(source=s, column=t)",
      "INSERT INTO s VALUES (6, '06')",
      "SELECT key FROM numbers WHERE key IN ('05', '6.0', 'x')",
      "SELECT key FROM numbers WHERE key = '05'",
      "SELECT key FROM texts WHERE key IN ('06', 'k')",
      "SELECT key FROM texts WHERE key = 6.0",
      "SELECT texts.key FROM s JOIN texts ON texts.key = s.i",
      "SELECT bloom_explain('texts', 's', 'i'), bloom_explain('numbers', 's', 't')",
      "INSERT INTO texts(texts) VALUES ('merge')",
      "SELECT key FROM texts WHERE key = 6",
      "SELECT count(*) FROM numbers",
      "DROP TABLE texts",
      "DROP TABLE numbers",
  };
}

struct Neighbour {
  std::vector<std::string> create;
  std::string join;  // makes it part of the transaction
};

// Three bloom tables beside others that open and undo savepoints of their own, all of them in one
// transaction. SQLite tells them in the order in which they joined it. `tables`: what creates them,
// f for the rows of s among them.
std::vector<std::string> neighbours(const std::vector<Neighbour>& tables) {
  std::vector<std::string> steps = {"CREATE TABLE s(k)", "CREATE TABLE x(a UNIQUE)"};
  const auto append = [&](const std::vector<std::string>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  for (const Neighbour& table : tables) {
    append(table.create);
  }
  append({
      R"(CREATE TRIGGER all_of_them AFTER INSERT ON x WHEN new.a > 300 BEGIN
          INSERT INTO g(key) VALUES ('k' || new.a);
          INSERT INTO s VALUES ('k' || new.a);
          INSERT OR IGNORE INTO p(key) VALUES ('k' || new.a); END)",
      "INSERT INTO p(key) VALUES ('k0')",
      "INSERT INTO g(key) VALUES ('k0')",
      "BEGIN",
  });
  for (const Neighbour& table : tables) {
    append({table.join});
  }
  append({
      "INSERT INTO p(key) VALUES ('k10')",
      "INSERT INTO g(key) VALUES ('k20')",
      "INSERT INTO x VALUES (1), (2)",
      "SAVEPOINT a",
      "INSERT INTO x VALUES (301), (302)",
      insert("p(key)", 40, 60),
      "SAVEPOINT b",
      "DELETE FROM s WHERE k = 'k30'",
      "INSERT INTO g(key) VALUES ('k70')",
      kRefusedStep + "INSERT INTO x VALUES (303), (1)",
      "ROLLBACK TO b",
      insert("g(key)", 80, 140),
      "INSERT INTO x VALUES (5), (6)",
      "ALTER TABLE p RENAME TO q",
      "ROLLBACK TO b",
      "INSERT INTO p(key) VALUES ('k150')",
      "RELEASE a",
      "INSERT OR REPLACE INTO x VALUES (304), (1)",
      "INSERT INTO g(g) VALUES ('clear')",
      "INSERT INTO x VALUES (7), (8)",
      "COMMIT",
      "INSERT INTO x VALUES (305)",
      "BEGIN",
      insert("s", 160, 161),
      "ROLLBACK",
  });
  return steps;
}

// In every order; and, where SQLite has it, a full-text index before or after them, which writes
// its own pending rows at each savepoint.
std::vector<std::vector<Neighbour>> orders_of_neighbours(bool with_full_text) {
  const Neighbour full_text = {
      {"CREATE VIRTUAL TABLE w USING fts5(a)",
       "CREATE TRIGGER index_it AFTER INSERT ON x BEGIN INSERT INTO w VALUES ('k' || new.a); END"},
      "INSERT INTO w VALUES ('k0')",
  };
  std::vector<Neighbour> tables = {
      {{R"(CREATE VIRTUAL TABLE f USING bloom(source=s, column=k, writers=extension, kind=counting,
          capacity=1000))"},
       "INSERT INTO s VALUES ('k30')"},
      {{"CREATE VIRTUAL TABLE g USING bloom(capacity=32, growth=on, cache=4096)"},
       "INSERT OR IGNORE INTO g(key) VALUES ('k0')"},
      {{"CREATE VIRTUAL TABLE p USING bloom(capacity=1000)"},
       "INSERT OR IGNORE INTO p(key) VALUES ('k0')"},
  };
  std::vector<std::vector<Neighbour>> orders;
  for (std::size_t first = 0; first < tables.size(); ++first) {
    for (std::size_t step = 1; step <= 2; ++step) {
      std::vector<Neighbour>& order = orders.emplace_back();
      for (std::size_t i = 0; i < tables.size(); ++i) {
        order.push_back(tables[(first + i * step) % tables.size()]);
      }
      if (with_full_text && sqlite3_compileoption_used("ENABLE_FTS5") != 0) {
        order.insert(step == 1 ? order.begin() : order.end(), full_text);
      }
    }
  }
  return orders;
}

}  // namespace

std::vector<Scenario> scenarios(const std::string& extension, bool full_text) {
  std::vector<Scenario> all{
      {"functions", functions()},
      {"a standard table", table("cells=126976, hashes=5, block=31744", false)},
      {"a counting table, blocks beyond a chunk, cache of one chunk",
       table("cells=32768, hashes=4, kind=counting, cache=4096", true)},
      {"a growing table", growth()},
      {"generations", generations()},
      {"rows", rows("capacity=1000", false)},
      {"rows, counting", rows("kind=counting, capacity=12000, cache=4096", true)},
      {"rows, growing", rows("capacity=40, growth=on", false)},
      {"groups", groups()},
      {"rows of groups", rows_of_groups()},
      {"groups of a source", groups_of_source()},
      {"search", search()},
      {"search by index", search_by_index()},
      {"types", types()},
      {"a source, growing", source("growth=on, cache=4096")},
      {"a source, counting", source("kind=counting, capacity=1000")},
      {"a source of writers=extension, growing",
       source("writers=extension, growth=on, cache=4096")},
      {"a source of writers=extension, counting",
       source("writers=extension, kind=counting, capacity=1000")},
  };
  for (const std::vector<Neighbour>& tables : orders_of_neighbours(full_text)) {
    all.push_back({"neighbours " + std::to_string(all.size()), neighbours(tables)});
  }
  for (Scenario& scenario : all) {
    scenario.steps.insert(scenario.steps.begin(), kLoad + extension);
  }
  return all;
}

}  // namespace bloom::faults
