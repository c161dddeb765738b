#include "tests/faults/database.h"

#include <cstdio>
#include <cstdlib>

#include "tests/faults/scenario.h"

namespace bloom::faults {

thread_local bool in_sqlite = false;

namespace {

constexpr char kRefused[] = "refused: ";

[[noreturn]] void fail(const char* what, sqlite3* db) {
  std::fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
  std::exit(2);
}

template <typename Call>
auto call(Call&& of_sqlite) {
  in_sqlite = true;
  const auto result = of_sqlite();
  in_sqlite = false;
  return result;
}

void append_row(sqlite3_stmt* statement, std::string& text) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const void* const bytes = call([&] { return sqlite3_column_blob(statement, i); });
    text.append(static_cast<const char*>(bytes),
                static_cast<std::size_t>(sqlite3_column_bytes(statement, i)))
        .append("|");
  }
  text += '\n';
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

// What a statement that must work gives; where it does not, how it refuses.
std::string told(Database& db, const std::string& sql) {
  const Outcome outcome = db.run(sql);
  return outcome.ok() ? outcome.text : kRefused + outcome.text + "\n";
}

std::string answers(Database& db, const std::string& table) {
  return table + " " + told(db, "SELECT info FROM " + quoted(table)) +
         told(db, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < " +
                      std::to_string(kKeys) + ") SELECT group_concat(i) FROM n WHERE EXISTS " +
                      "(SELECT 1 FROM " + quoted(table) + " WHERE key = 'k' || i)");
}

// Names of tables, one a line.
template <typename F>
void for_each_line(const std::string& lines, F&& f) {
  std::size_t from = 0;
  for (std::size_t to = 0; (to = lines.find("|\n", from)) != std::string::npos; from = to + 2) {
    f(lines.substr(from, to - from));
  }
}

constexpr char kBloomTables[] =
    "SELECT name FROM sqlite_master WHERE sql LIKE '% USING bloom(%' ORDER BY name";
constexpr char kOrdinaryTables[] =
    "SELECT name FROM sqlite_master AS t WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    " AND NOT EXISTS (SELECT 1 FROM sqlite_master AS v WHERE v.sql LIKE 'CREATE VIRTUAL TABLE%'"
    "                 AND substr(t.name, 1, length(v.name) + 1) = v.name || '_') ORDER BY name";

}  // namespace

Database::Database(const std::string& file, const char* vfs) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(file.c_str(), &db_, kFlags, vfs) != SQLITE_OK) {
    fail("open", db_);
  }
  sqlite3_enable_load_extension(db_, 1);
}

Database::~Database() {
  if (sqlite3_close(db_) != SQLITE_OK) {
    fail("close", db_);
  }
}

Outcome Database::run(const std::string& sql) {
  if (sql.starts_with(kLoad)) {
    return load(sql.substr(kLoad.size()));
  }
  sqlite3_stmt* statement = nullptr;
  int code = call([&] { return sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr); });
  std::string text;
  if (code == SQLITE_OK) {
    while (call([&] { return sqlite3_step(statement); }) == SQLITE_ROW) {
      append_row(statement, text);
    }
    code = call([&] { return sqlite3_finalize(statement); });
  }
  if (code != SQLITE_OK) {
    text = sqlite3_errmsg(db_);
  }
  return {code, text};
}

// Not by the function load_extension(): while its statement runs, functions of an earlier attempt
// cannot be replaced.
Outcome Database::load(const std::string& extension) {
  char* error = nullptr;
  const int code =
      call([&] { return sqlite3_load_extension(db_, extension.c_str(), nullptr, &error); });
  Outcome outcome{code, error != nullptr ? error : ""};
  sqlite3_free(error);
  return outcome;
}

std::string Database::state() {
  std::string state =
      told(*this, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2");
  for_each_line(told(*this, kOrdinaryTables), [&](const std::string& table) {
    state += table + " " + told(*this, "SELECT * FROM " + quoted(table));
  });
  for_each_line(told(*this, kBloomTables),
                [&](const std::string& table) { state += answers(*this, table); });
  return state;
}

std::vector<std::string> Database::stored_tables() {
  std::vector<std::string> tables;
  for_each_line(told(*this, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"),
                [&](const std::string& table) { tables.push_back(table); });
  return tables;
}

std::string Database::damage() {
  std::string damage = told(*this, "PRAGMA integrity_check");
  if (damage == "ok|\n") {
    damage.clear();
  }
  for_each_line(told(*this, kBloomTables), [&](const std::string& table) {
    damage += told(*this, "INSERT INTO " + quoted(table) + "(" + quoted(table) +
                              ") VALUES ('integrity-check')");
  });
  return damage;
}

bool refuses(const std::string& state) { return state.find(kRefused) != std::string::npos; }

}  // namespace bloom::faults
