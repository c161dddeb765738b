#include "tests/faults/state.h"

#include <cstddef>

#include "tests/faults/scenario.h"

namespace bloom::faults {
namespace {

constexpr char kError[] = "error: ";

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

// The rows of a statement, or its error.
std::string result_of(Database& db, const std::string& sql) {
  const Outcome outcome = db.run(sql);
  return outcome.ok() ? outcome.text : kError + outcome.text + "\n";
}

std::string contents_of(Database& db, const std::string& table) {
  return table + " " + result_of(db, "SELECT info FROM " + quoted(table)) +
         result_of(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                           std::to_string(kKeys) + ") SELECT group_concat(i) FROM n WHERE EXISTS " +
                           "(SELECT 1 FROM " + quoted(table) + " WHERE key = 'k' || i)");
}

// Keys that are still in the row log have no false positives, and whether they are there depends on
// what SQLite has reported before a failure. So the filters are compared, which include the log,
// and of the answers only those for the keys that scenarios give a member of this name.
std::string contents_of_group(Database& db, const std::string& table) {
  return table + " " +
         result_of(db, "SELECT member, hex(filter), keys, overfull FROM " + quoted(table) +
                           " ORDER BY 1") +
         result_of(db, "SELECT DISTINCT info FROM " + quoted(table)) +
         result_of(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                           std::to_string(kKeys) +
                           ") SELECT key, group_concat(member) "
                           "FROM (SELECT key, member FROM n CROSS JOIN " +
                           quoted(table) +
                           " WHERE key = 'k' || i AND (member NOT LIKE 'm%' OR"
                           " member IN ('m' || i, 'm' || (i % 7))) ORDER BY 1, 2) GROUP BY key");
}

// The rows of a statement with one column, one per line.
template <typename F>
void for_each_line(const std::string& lines, F&& f) {
  std::size_t from = 0;
  for (std::size_t to = 0; (to = lines.find("|\n", from)) != std::string::npos; from = to + 2) {
    f(lines.substr(from, to - from));
  }
}

constexpr char kBloomTables[] =
    "SELECT name FROM sqlite_master WHERE sql LIKE '% USING bloom(%' ORDER BY name";
constexpr char kGroupTables[] =
    "SELECT name FROM sqlite_master WHERE sql LIKE '% USING bloom_groups(%' ORDER BY name";
constexpr char kSearchTables[] =
    "SELECT name FROM sqlite_master WHERE sql LIKE '% USING bloom_search(%' ORDER BY name";
constexpr char kOrdinaryTables[] =
    "SELECT name FROM sqlite_master AS t WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    " AND NOT EXISTS (SELECT 1 FROM sqlite_master AS v WHERE v.sql LIKE 'CREATE VIRTUAL TABLE%'"
    "                 AND substr(t.name, 1, length(v.name) + 1) = v.name || '_') ORDER BY name";

}  // namespace

Outcome run_step(Database& db, const std::string& step) {
  return step.starts_with(kLoad) ? db.load(step.substr(kLoad.size())) : db.run(step);
}

std::string state_of(Database& db) {
  std::string state =
      result_of(db, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2");
  for_each_line(result_of(db, kOrdinaryTables), [&](const std::string& table) {
    state += table + " " + result_of(db, "SELECT * FROM " + quoted(table));
  });
  for_each_line(result_of(db, kBloomTables),
                [&](const std::string& table) { state += contents_of(db, table); });
  for_each_line(result_of(db, kGroupTables),
                [&](const std::string& table) { state += contents_of_group(db, table); });
  for_each_line(result_of(db, kSearchTables), [&](const std::string& table) {
    state += table + " " +
             result_of(db, "SELECT *, ranges, pending_rows, info FROM " + quoted(table) +
                               " ORDER BY rowid");
  });
  return state;
}

bool has_error(const std::string& state) { return state.find(kError) != std::string::npos; }

std::vector<std::string> stored_tables(Database& db) {
  std::vector<std::string> tables;
  for_each_line(
      result_of(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"),
      [&](const std::string& table) { tables.push_back(table); });
  return tables;
}

std::string damage_of(Database& db) {
  std::string damage = result_of(db, "PRAGMA integrity_check");
  if (damage == "ok|\n") {
    damage.clear();
  }
  for (const char* const tables : {kBloomTables, kGroupTables, kSearchTables}) {
    for_each_line(result_of(db, tables), [&](const std::string& table) {
      damage += result_of(db, "INSERT INTO " + quoted(table) + "(" + quoted(table) +
                                  ") VALUES ('integrity-check')");
    });
  }
  return damage;
}

}  // namespace bloom::faults
