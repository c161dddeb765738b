// A bloom_search table whose shadow tables have arbitrary contents, and then searches, changes of
// the source and commands: each must end soon, in a result or an SQL error. If 'integrity-check'
// then finds nothing, every row of the source must be found by its key.
//
// Input: whether the table is optimized, whether the key has an index, rows of the shadow tables,
// statements.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/layout/format.h"
#include "tests/fuzz/bounded_database.h"
#include "tests/fuzz/input.h"

namespace bloom::fuzz {
namespace {

constexpr int kMostSteps = 200'000;

constexpr const char* kCreateSource = "CREATE TABLE log(id INTEGER PRIMARY KEY, k, n)";

// The expression fails for row 150, which ends a range. The last rows are in no range.
constexpr const char* kCreate =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300)"
    " INSERT INTO log SELECT i, 'key ' || (i % 40),"
    " CASE i WHEN 150 THEN -9223372036854775807 - 1 ELSE i % 7 END FROM n;"
    "CREATE VIRTUAL TABLE s USING bloom_search(source=log, like=k, words=k, equal=(k, abs(n) AS "
    "a));"
    "UPDATE log SET k = 'changed' WHERE id = 7;"
    "INSERT INTO log(k) VALUES ('new'), (NULL)";

// Returns the number of rows of the source that are not found by their key.
constexpr const char* kCountLost =
    "SELECT count(*) FROM log WHERE k IS NOT NULL AND NOT EXISTS (SELECT 1 FROM s WHERE s.k = "
    "log.k AND +s.id = log.id)";

constexpr std::array kStatements = {
    "SELECT id FROM s WHERE k = 'key 1'",
    "SELECT count(*) FROM s WHERE k LIKE '%ey 1%' AND id > 20",
    "SELECT id FROM s WHERE k MATCH 'key 3' ORDER BY id DESC LIMIT 2",
    "SELECT count(*) FROM s WHERE k IN ('key 5', 'changed', 'absent')",
    "SELECT count(*) FROM s WHERE a = 3",
    "SELECT count(*) FROM log JOIN s ON s.k = log.k WHERE log.id < 9",
    "SELECT * FROM s",
    "SELECT ranges, pending_rows, bytes, json_valid(info) FROM s LIMIT 1",
    "INSERT INTO s(s) VALUES ('summarize')",
    "INSERT INTO s(s) VALUES ('rebuild')",
    "INSERT INTO s(s) VALUES ('optimize')",
    "INSERT INTO s(s) VALUES ('integrity-check')",
    "INSERT INTO log(k) VALUES ('another')",
    "UPDATE log SET k = k || 'x' WHERE id IN (3, 70, 150)",
    "REPLACE INTO log VALUES (-1, 'x', 1), (20, 'y', 2), (9223372036854775807, 'z', 3)",
    "DELETE FROM log WHERE id > 60",
    "ALTER TABLE s RENAME TO s2; ALTER TABLE s2 RENAME TO s",
    "ALTER TABLE log RENAME COLUMN n TO m; ALTER TABLE log RENAME COLUMN m TO n",
    "CREATE INDEX log_k ON log(k)",
    "DROP INDEX log_k",
    "BEGIN",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "COMMIT",
    "ROLLBACK",
    "PRAGMA writable_schema = RESET",
    "DROP TABLE s",
};

class SearchTarget {
 public:
  explicit SearchTarget(Input input) : input_(input) {}

  void run() {
    restore_table(input_.below(4));
    for (unsigned rows = input_.below(8); rows > 0; --rows) {
      put_row();
    }
    database_.limit_steps(kMostSteps);
    for (int i = 0; i < 12 && !input_.at_end(); ++i) {
      ask(kStatements.at(input_.below(kStatements.size())));
    }
    check_and_find();
  }

 private:
  // Made once: most of the time would go there.
  void restore_table(unsigned form) {
    static const std::array<std::string, 4> images = {image(false, false), image(true, false),
                                                      image(false, true), image(true, true)};
    database_.restore(images.at(form));
  }
  static std::string image(bool optimized, bool indexed) {
    BoundedDatabase database;
    database.must_execute(kCreateSource);
    if (indexed) {
      database.must_execute("CREATE INDEX log_k ON log(k)");
    }
    database.must_execute(kCreate);
    if (optimized) {
      database.must_execute("INSERT INTO s(s) VALUES ('summarize')");
      database.must_execute("INSERT INTO s(s) VALUES ('optimize')");
    }
    return database.image();
  }

  void ask(const char* sql) {
    const int code = database_.execute(sql);
    require(code == SQLITE_OK || is_expected_error(code),
            std::string(sql) + " failed with code " + std::to_string(code));
  }

  void check_and_find() {
    if (database_.execute("INSERT INTO s(s) VALUES ('integrity-check')") != SQLITE_OK) {
      return;
    }
    Statement count(database_, kCountLost);
    if (count.step() == SQLITE_ROW) {
      require(count.integer(0) == 0, "a row is not found by its key");
    }
  }

  // Changes one row of a table of the extension.
  void put_row() {
    constexpr std::array kPuts = {
        "REPLACE INTO s_config VALUES ('version', ?1)",
        "REPLACE INTO s_config VALUES ('covered', ?1)",
        "REPLACE INTO s_config VALUES ('covered', ?2)",
        "REPLACE INTO s_config VALUES ('rows', ?1)",
        "REPLACE INTO s_config VALUES ('guard', ?1)",
        "REPLACE INTO s_config VALUES ('keys', ?1)",
        "REPLACE INTO s_config VALUES ('grams', ?1)",
        "REPLACE INTO s_config VALUES ('keys_segments', ?1)",
        "REPLACE INTO s_config VALUES ('grams_wide', ?1)",
        "REPLACE INTO s_config VALUES ('whole', ?1)",
        "REPLACE INTO s_config VALUES ('whole_keys', ?1)",
        "REPLACE INTO s_config VALUES ('whole_columns', ?1)",
        "UPDATE s_data SET chunk = ?1 WHERE id >= 1 << 61",
        "DELETE FROM s_data WHERE id >= 1 << 61",
        "REPLACE INTO s_config VALUES ('keys_ranges', ?1)",
        "UPDATE s_config SET v = ?1 WHERE k LIKE '%_segments' OR k LIKE '%_wide'",
        "DELETE FROM s_config WHERE k = 'covered'",
        "DELETE FROM s_config WHERE k LIKE 'keys%'",
        "UPDATE s_ranges SET first = ?1",
        "UPDATE s_ranges SET last = ?2 WHERE rowid % 2",
        "UPDATE OR IGNORE s_ranges SET id = ?2",
        "INSERT OR IGNORE INTO s_ranges VALUES (?2, ?1, ?3)",
        "DELETE FROM s_ranges WHERE id = ?3",
        "REPLACE INTO s_data VALUES (?2, ?1)",
        "UPDATE s_data SET chunk = ?1 WHERE id % 3 = ?3 % 3",
        "DELETE FROM s_data WHERE id % 5 = ?3 % 5",
        "REPLACE INTO s_wide VALUES (?2, ?1)",
        "INSERT OR IGNORE INTO s_changed VALUES (?2)",
        "DELETE FROM s_changed",
    };
    Statement put(database_, kPuts.at(input_.below(kPuts.size())));
    bind_value(put);
    put.bind(2, number());
    put.bind(3, std::int64_t{input_.below(210)});
    put.step();
  }

  std::int64_t number() {
    switch (input_.below(4)) {
      case 0:
        return static_cast<std::int64_t>(input_.word());
      case 1:
        return std::int64_t{1} << input_.below(63);
      case 2:
        return -std::int64_t{input_.byte()};
      default:
        return std::int64_t{input_.byte()};
    }
  }

  // A value of any type for parameter 1.
  void bind_value(Statement& statement) {
    bytes_.clear();
    switch (input_.below(8)) {
      case 0:
        return;
      case 1:
        statement.bind(1, "text");
        return;
      case 2: {
        const auto taken = input_.take(kHeaderBytes);
        bytes_.assign(taken.begin(), taken.end());
        repair_header_checksum(bytes_);
        break;
      }
      case 3: {
        constexpr std::array<std::size_t, 6> kSizes = {3968, 3968, 8, 24, 16, 0};
        bytes_.assign(kSizes.at(input_.below(kSizes.size())), input_.byte());
        break;
      }
      default:
        statement.bind(1, number());
        return;
    }
    statement.bind(1, bytes_);
  }

  Input input_;
  BoundedDatabase database_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bloom::fuzz::SearchTarget({bytes, size}).run();
  return 0;
}
