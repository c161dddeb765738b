// Fills shadow tables with arbitrary contents, then runs every lookup and command. Each must end
// soon, with a result or an SQL error. A key that is added afterwards must be found.
//
// Input: the table's options, rows of its config, rows of its data, statements.
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

constexpr std::array kOptions = {
    "capacity=100",
    "capacity=100, kind=counting",
    "capacity=100, kind=partitioned, cache=4096",
    "",
    "capacity=40, growth=on, cache=4096",
    "cells=100000, hashes=3",
    "cells=100000, hashes=3, kind=counting, cache=8192",
    "cells=40000, hashes=2, block=100, collate=nocase",
    "capacity=300, generations=3",
    "source=s, column=k",
    "source=s, column=k, kind=counting",
};

// Replacements of the shadow tables.
constexpr std::array kSchemas = {
    "",
    "",
    "",
    "",
    "DROP TABLE t_data",
    "DROP TABLE t_config",
    "DROP TABLE t_data; CREATE VIEW t_data AS SELECT 0 AS id, zeroblob(3968) AS chunk",
    "DROP TABLE t_data; CREATE VIEW t_data AS SELECT 0 AS id, key AS chunk FROM t WHERE key = 1",
    "DROP TABLE t_data; CREATE TABLE t_data(id, chunk)",
    "DROP TABLE t_config; CREATE TABLE t_config(k, v)",
    "DROP TABLE t_config; CREATE VIEW t_config AS SELECT 'version' AS k, 1 AS v",
    "CREATE TRIGGER d BEFORE INSERT ON t_data BEGIN INSERT INTO t(key) VALUES ('again'); END",
    "CREATE TRIGGER d AFTER UPDATE ON t_config BEGIN DELETE FROM t_data; END",
    "CREATE TRIGGER d AFTER INSERT ON t_config BEGIN INSERT INTO t(t) VALUES ('halve'); END",
    "ALTER TABLE t_data ADD COLUMN more; ALTER TABLE t_config ADD COLUMN more",
};

constexpr std::array kStatements = {
    "SELECT key FROM t WHERE key = 'a'",
    "SELECT count(*) FROM s JOIN t ON t.key = s.k",
    "SELECT length(filter), bloom_check(filter) FROM t",
    "SELECT json_valid(info) FROM t",
    "SELECT keys, fpr, capacity, bytes, overfull, layers, generations, stale, pending, lookups, "
    "absent, "
    "chunks_read FROM t",
    "INSERT INTO t(key) VALUES ('a')",
    "INSERT OR IGNORE INTO t(key) VALUES ('a'), (NULL), ('b')",
    "INSERT INTO t(key) SELECT 'many ' || value FROM json_each('[1,2,3,4,5,6,7,8,9]'), s",
    "DELETE FROM t WHERE key = 'a'",
    "UPDATE t SET key = 'b' WHERE key = 'a'",
    "INSERT INTO t(filter) VALUES (bloom_add(bloom_create(100), 'c'))",
    "INSERT INTO t(filter) SELECT filter FROM t",
    "INSERT INTO t(t) VALUES ('integrity-check')",
    "INSERT INTO t(t) VALUES ('halve')",
    "INSERT INTO t(t, fpr) VALUES ('fold', 0.1)",
    "INSERT INTO t(t) VALUES ('rebuild')",
    "INSERT INTO t(t) VALUES ('clear')",
    "INSERT INTO t(t) VALUES ('rotate')",
    "INSERT INTO s VALUES ('d')",
    "DELETE FROM s WHERE k = 'd'",
    "ALTER TABLE t RENAME TO t2; ALTER TABLE t2 RENAME TO t",
    "BEGIN",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "COMMIT",
    "ROLLBACK",
    "PRAGMA writable_schema = RESET",
    "DROP TABLE t",
};

class Target {
 public:
  explicit Target(Input input) : input_(input) {}

  void run() {
    database_.must_execute("CREATE TABLE s(k); INSERT INTO s VALUES ('a'), ('z'), (NULL)");
    database_.must_execute(std::string("CREATE VIRTUAL TABLE t USING bloom(") +
                           kOptions.at(input_.below(kOptions.size())) + ")");
    const std::string schema = kSchemas.at(input_.below(kSchemas.size()));
    for (unsigned rows = input_.below(6); rows > 0; --rows) {
      put_config();
    }
    for (unsigned rows = input_.below(6); rows > 0; --rows) {
      put_chunk();
    }
    database_.must_execute(schema);
    database_.limit_steps(kMostSteps);
    for (int i = 0; i < 12 && !input_.at_end(); ++i) {
      ask(kStatements.at(input_.below(kStatements.size())));
    }
    add_and_find();
  }

 private:
  void ask(const char* sql) {
    const int code = database_.execute(sql);
    require(code == SQLITE_OK || is_expected_error(code),
            std::string(sql) + " failed with code " + std::to_string(code));
  }

  void add_and_find() {
    if (database_.execute("INSERT INTO t(key) VALUES ('added')") != SQLITE_OK) {
      return;
    }
    Statement find(database_, "SELECT count(*) FROM t WHERE key = 'added'");
    if (find.step() == SQLITE_ROW) {
      require(find.integer(0) == 1, "a key that was added is absent");
    }
  }

  // A value of any type for parameter 2.
  void bind_value(Statement& statement) {
    bytes_.clear();
    switch (input_.below(16)) {
      case 0:
        return;
      case 1:
        statement.bind(2, static_cast<std::int64_t>(input_.word()));
        return;
      case 2:
        statement.bind(2, std::int64_t{input_.byte()});
        return;
      case 3:
        statement.bind(2, "text");
        return;
      case 4:
        take_bytes(input_.byte());
        break;
      default: {
        // Usually the size of a chunk.
        constexpr std::array<std::size_t, 8> kSizes = {3968, 3968, 3968, 3968, 3967, 120, 480, 0};
        const std::size_t size = kSizes.at(input_.below(kSizes.size()));
        bytes_.assign(size, input_.byte());
        break;
      }
    }
    statement.bind(2, bytes_);
  }

  void take_bytes(std::size_t size) {
    const auto taken = input_.take(size);
    bytes_.insert(bytes_.end(), taken.begin(), taken.end());
  }

  // Some headers, each with the right checksum.
  void bind_headers(Statement& statement) {
    bytes_.clear();
    for (unsigned n = 1 + input_.below(3); n > 0; --n) {
      take_bytes(kHeaderBytes);
      repair_header_checksum(std::span(bytes_).last(std::min(kHeaderBytes, bytes_.size())));
    }
    statement.bind(2, bytes_);
  }

  void put_config() {
    constexpr std::array kNames = {"header", "header", "header", "version",
                                   "merged", "stale",  "newest", "other"};
    Statement put(database_, "REPLACE INTO t_config VALUES (?1, ?2)");
    const unsigned name = input_.below(kNames.size());
    put.bind(1, kNames.at(name));
    name < 2 ? bind_headers(put) : bind_value(put);
    put.step();
  }

  void put_chunk() {
    Statement put(database_, "REPLACE INTO t_data VALUES (?1, ?2)");
    put.bind(1, input_.flag() ? std::int64_t{input_.below(16)}
                              : static_cast<std::int64_t>(input_.word()));
    bind_value(put);
    put.step();
  }

  Input input_;
  BoundedDatabase database_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace
}  // namespace bloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  bloom::fuzz::Target({bytes, size}).run();
  return 0;
}
