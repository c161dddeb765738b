#include "sql/vtab/row_log.h"

#include <utility>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/interrupts.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {

using sqlite::Execution;

bool log_is_out_of_reach(const sqlite::Outcome& loading) {
  return loading.code() == SQLITE_ERROR || loading.code() == SQLITE_ABORT ||
         loading.code() == SQLITE_CORRUPT_VTAB || loading.code() == SQLITE_AUTH ||
         loading.code() == SQLITE_INTERRUPT;
}

// After other failures SQLite has rolled the transaction back.
bool RowLog::make() {
  const auto outcome = sqlite::Outcome::of([&] { tables_.create(kTable); });
  if (outcome.code() != SQLITE_ERROR && outcome.code() != SQLITE_AUTH) {
    outcome.throw_failure();
  }
  return !outcome.failed();
}

// INSERT leaves the row out without an error if a trigger on the log raises IGNORE.
std::int64_t RowLog::append(std::span<const std::uint8_t> row, std::optional<std::int64_t> id) {
  if (std::exchange(is_appending_, true)) {
    throw_damaged("a trigger on its row log must not use the table itself");
  }
  struct Done {
    bool& flag;
    ~Done() { flag = false; }
  } const done{is_appending_};
  const sqlite::KeepLastRowid keep(tables_.db());
  ++writes_;
  // If SQLite chooses the id, it does not look for a row with this id first.
  Execution run(id ? tables_.prepared("INSERT INTO {rowlog} VALUES (?2, ?1)")
                   : tables_.prepared("INSERT INTO {rowlog}(row) VALUES (?1)"));
  run.bind(1, row);
  if (id) {
    run.bind(2, *id);
  }
  while (run.step()) {  // PRAGMA count_changes returns a row
  }
  if (sqlite3_changes(tables_.db()) != 1) {
    throw_damaged("the row log has not taken a row");
  }
  return sqlite3_last_insert_rowid(tables_.db());
}

std::optional<RowLog::Ids> RowLog::ids() {
  Execution run(
      tables_.prepared("SELECT (SELECT id FROM {rowlog} ORDER BY id LIMIT 1),"
                       " (SELECT id FROM {rowlog} ORDER BY id DESC LIMIT 1)"));
  run.step();
  return run.type(0) == SQLITE_NULL ? std::nullopt
                                    : std::optional(Ids{run.integer(0), run.integer(1)});
}

void RowLog::for_each(const EachRow& f, std::int64_t first) {
  Execution run(tables_.prepared("SELECT id, row FROM {rowlog} WHERE id >= ?1 ORDER BY id"));
  run.bind(1, first);
  while (run.step()) {
    f(run.integer(0), run.blob(1));
  }
}

bool RowLog::with_newest(const EachRow& f) {
  Execution run(tables_.prepared("SELECT id, row FROM {rowlog} ORDER BY id DESC LIMIT 1"));
  if (!run.step()) {
    return false;
  }
  f(run.integer(0), run.blob(1));
  return true;
}

// SQLite stores ids of up to 35 bits in five bytes.
std::int64_t RowLog::first_id() {
  constexpr unsigned kBits = 35;
  std::uint64_t random = 0;
  sqlite3_randomness(sizeof random, &random);
  return static_cast<std::int64_t>(random >> (64 - kBits));
}

// SQLite counts each row that an UPSERT updates, also if it is the same row every time.
//
// The statement has a savepoint of its own. SQLite would roll that back to prepare a kept statement
// again, and other tables would take it for a rollback of the user's savepoint. It has no
// recursion, which some authorizers refuse.
void RowLog::restore_changes(int changes) {
  constexpr int kMost = 1000;
  if (changes == sqlite3_changes(tables_.db()) || changes > kMost) {
    return;
  }
  bool is_permitted = false;
  const auto outcome = sqlite::Outcome::of([&] {
    const sqlite::Statement update = tables_.statement(
        "WITH v(i) AS (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) "
        "INSERT INTO {config} SELECT 'version', 0 FROM v AS a, v AS b, v AS c, v AS d, v AS e "
        "WHERE true LIMIT ?1 ON CONFLICT(k) DO UPDATE SET v = v");
    is_permitted = true;
    ++writes_;
    Execution(update).bind(1, std::int64_t{changes}).step();
  });
  if (is_permitted || outcome.code() != SQLITE_AUTH) {
    outcome.throw_failure();
  }
}

// SQLite prepares a kept statement again if there is a new authorizer. And it rolls the whole
// transaction back if a statement that writes is interrupted; COMMIT itself is too short for that.
bool RowLog::is_merge_refused(std::initializer_list<const char*> statements) {
  const auto outcome = sqlite::Outcome::of([&] {
    if (!probe_) {
      probe_.emplace(tables_.db(), sqlite::Interrupts::kProbe);
    }
    Execution probe(*probe_);
    probe.step();  // throws if it is interrupted
    if (repreparations_when_permitted_ != probe.repreparations()) {
      tables_.statement("DELETE FROM {rowlog}");
      for (const char* const sql : statements) {
        tables_.statement(sql);
      }
      repreparations_when_permitted_ = probe.repreparations();
    }
  });
  if (outcome.code() != SQLITE_AUTH && outcome.code() != SQLITE_INTERRUPT) {
    outcome.throw_failure();
  }
  return outcome.failed();
}

void RowLog::clear() {
  ++writes_;
  Execution(tables_.prepared("DELETE FROM {rowlog}")).step();
}

}  // namespace bloom
