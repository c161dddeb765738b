// A bloom_groups table whose tables have arbitrary contents, and then every lookup, change and
// command: each must end soon, in a result or an SQL error. A key that is added afterwards must be
// found.
//
// Input: whether the table is optimized, rows of the shadow tables, statements.
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

constexpr int kMostSteps = 100'000;

// 200 members are three full segments and eight more members. k = 1, so 'optimize' merges the
// three.
constexpr const char* kCreate =
    "CREATE TABLE s(k); INSERT INTO s VALUES ('a'), ('m3'), (NULL);"
    "CREATE VIRTUAL TABLE t USING bloom_groups(capacity=30, fpr=0.4);"
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 200)"
    " INSERT INTO t(member, key) SELECT 'm' || i, i % 7 FROM n;"
    "DELETE FROM t WHERE member = 'm3'";

constexpr std::array kStatements = {
    "SELECT member FROM t WHERE key = 1",
    "SELECT 1 FROM t WHERE key = 1 AND member = 'm150'",
    "SELECT count(*) FROM s JOIN t ON t.key = s.k",
    "SELECT member, keys, fpr, capacity, bytes, overfull, json_valid(info) FROM t",
    "SELECT keys FROM t WHERE member = 'm5'",
    "SELECT length(filter), bloom_check(filter) FROM t",
    "INSERT INTO t(member, key) VALUES ('m5', 'a')",
    "INSERT OR IGNORE INTO t(member, key) VALUES ('m6', 'a'), (NULL, 'b'), ('new', 'b')",
    "INSERT INTO t(member, key) SELECT 'many ' || value, value FROM json_each('[1,2,3,4,5]'), s",
    "INSERT INTO t(member, filter) SELECT 'copy', filter FROM t WHERE member = 'm7'",
    "DELETE FROM t WHERE member = 'm8'",
    "DELETE FROM t WHERE member IN (SELECT k FROM s)",
    "UPDATE t SET member = 'renamed' WHERE member = 'm9'",
    "INSERT INTO t(t) VALUES ('optimize')",
    "INSERT INTO t(t) VALUES ('integrity-check')",
    "INSERT INTO t(t) VALUES ('clear')",
    "ALTER TABLE t RENAME TO t2; ALTER TABLE t2 RENAME TO t",
    "BEGIN",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "COMMIT",
    "ROLLBACK",
    "PRAGMA writable_schema = RESET",
    "DROP TABLE t",
};

class GroupTarget {
 public:
  explicit GroupTarget(Input input) : input_(input) {}

  void run() {
    restore_table(input_.flag());
    for (unsigned rows = input_.below(8); rows > 0; --rows) {
      put_row();
    }
    database_.limit_steps(kMostSteps);
    for (int i = 0; i < 12 && !input_.at_end(); ++i) {
      ask(kStatements.at(input_.below(kStatements.size())));
    }
    add_and_find();
  }

 private:
  // Made once: most of the time would go there.
  void restore_table(bool optimized) {
    static const std::array<std::string, 2> images = {image(false), image(true)};
    database_.restore(images.at(optimized ? 1 : 0));
  }
  static std::string image(bool optimized) {
    BoundedDatabase database;
    database.must_execute(kCreate);
    if (optimized) {
      database.must_execute("INSERT INTO t(t) VALUES ('optimize')");
    }
    return database.image();
  }

  void ask(const char* sql) {
    const int code = database_.execute(sql);
    require(code == SQLITE_OK || is_expected_error(code),
            std::string(sql) + " failed with code " + std::to_string(code));
  }

  void add_and_find() {
    if (database_.execute("INSERT INTO t(member, key) VALUES ('m10', 'added'), ('z', 'added')") !=
        SQLITE_OK) {
      return;
    }
    Statement find(database_,
                   "SELECT count(*) FROM t WHERE key = 'added' AND member IN ('m10', 'z')");
    if (find.step() == SQLITE_ROW) {
      require(find.integer(0) == 2, "a key that was added is absent");
    }
  }

  // Changes one row of a table of the extension.
  void put_row() {
    constexpr std::array kPuts = {
        "REPLACE INTO t_config VALUES ('segments', ?1)",
        "REPLACE INTO t_config VALUES ('wide', ?1)",
        "UPDATE t_config SET v = ?1 WHERE k IN ('segments', 'wide')",
        "REPLACE INTO t_config VALUES ('header', ?1)",
        "REPLACE INTO t_config VALUES ('version', ?1)",
        "REPLACE INTO t_data VALUES (?2, ?1)",
        "REPLACE INTO t_wide VALUES (?2, ?1)",
        "UPDATE OR IGNORE t_members SET slot = ?2 WHERE slot = ?3",
        "UPDATE OR IGNORE t_members SET member = ?1 WHERE slot = ?3",
        "UPDATE t_members SET member = NULL, cleared = ?1 WHERE slot = ?3",
        "DELETE FROM t_data WHERE id = ?2",
        "DELETE FROM t_wide WHERE id = ?2",
        "DELETE FROM t_members WHERE slot = ?3",
        "DELETE FROM t_config WHERE k = 'wide'",
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
  bloom::fuzz::GroupTarget({bytes, size}).run();
  return 0;
}
