#include "sql/source/change_log.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/support/error.h"
#include "sql/source/triggers/source_triggers.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

// The columns of the log, in the order of SELECT *. The values of the key follow.
enum { kIdColumn, kTokenColumn, kChangeColumn, kFirstKeyColumn };

// Notices rows that someone has deleted. Rows are appended with ids from 1 on, and deleted all at
// once, apart from announcements and what a merge has kept. So ids have gaps only beside these. OR
// REPLACE deletes rows without a trace if someone has made a UNIQUE index on the log.
class RowOrder {
 public:
  explicit RowOrder(const std::string& log) : log_(log) {}

  // `change`: the column `added`.
  void begin_at(std::int64_t id, std::int64_t change) {
    id_ = id;
    may_have_gap_ = may_have_gap(change);
  }
  // Throws bloom::Error if rows before this one are missing.
  void require_next(std::int64_t id, std::int64_t change) {
    if (id != id_ + 1 && !may_have_gap_ && !may_have_gap(change)) {
      fail("the table " + sqlite::quoted_text(log_) +
           " lacks rows, so keys may be missing from the filter (run the command 'rebuild')");
    }
    begin_at(id, change);
  }

 private:
  static bool may_have_gap(std::int64_t change) {
    return change == ChangeLog::kAnnounced || change == ChangeLog::kVoid ||
           change == ChangeLog::kKept;
  }

  const std::string& log_;
  std::int64_t id_ = 0;
  bool may_have_gap_ = false;
};

}  // namespace

SideTable ChangeLog::side_table(std::size_t columns) {
  std::string list(kColumns);
  for (std::size_t i = 1; i <= columns; ++i) {
    list.append(", key").append(std::to_string(i));
  }
  return {kSuffix, list + ")"};
}

std::string ChangeLog::qualified() const { return quoted_name(schema_) + "." + quoted_name(name_); }

sqlite::Statement::FindDamage ChangeLog::find_damage() const {
  return [this] {
    return sqlite::has_columns(db_, schema_, name_, {"id", "token", "added"}) ? "" : name_;
  };
}

void ChangeLog::require_readable() const { sqlite::require_readable(db_, schema_, name_); }

// Returns the columns of the table as its CREATE statement lists them, if it is a log; else "".
std::string ChangeLog::definition() const {
  const std::string sql = sqlite::stored_sql(db_, schema_, "table", name_);
  return sql.substr(std::min(sql.rfind(kColumns), sql.size()));
}

// Returns "added, key1, ...".
std::string ChangeLog::change_column_list() const {
  const std::string columns = definition();
  if (columns.empty()) {
    throw_damaged("the table of pending changes is missing or has changed");
  }
  const std::size_t begin = kColumns.rfind("added");
  return columns.substr(begin, columns.size() - begin - 1);
}

void ChangeLog::rename(const std::string& table) {
  select_all_.select.reset();
  select_from_.select.reset();
  select_change_.reset();
  name_ = table + std::string(kSuffix);
}

void ChangeLog::read_rows(std::uint64_t most) {
  const auto outcome = sqlite::Outcome::of([&] {
    while (!read_from_last(most)) {
      forget_last();
    }
    // SQLite runs triggers one within another, so the newest announcement becomes void first.
    while (!announcements_.empty() && !is_announcement(announcements_.back())) {
      announcements_.pop_back();
    }
  });
  if (outcome.failed()) {  // no position is behind the rows that were read last
    forget();
  }
  outcome.throw_failure();
}

bool ChangeLog::Position::matches(const Execution& row) const {
  const auto other = row.value(kTokenColumn).blob();
  return id == row.integer(kIdColumn) &&
         std::equal(token.begin(), token.end(), other.begin(), other.end());
}

void ChangeLog::prepare(RowSelect& rows) const {
  // If an authorizer hides the id, no row has one. So all rows are read without a condition.
  const std::string condition = &rows == &select_from_ ? " WHERE id >= ?1" : "";
  rows.repreparations_when_readable.reset();
  rows.select.emplace(db_, "SELECT * FROM " + qualified() + condition + " ORDER BY id",
                      find_damage());
}

// Moves to the first row of what comes after the last position. Returns whether there is one.
//
// A statement that was prepared while an authorizer hid columns reads NULL for them, also after the
// authorizer is gone. If nothing was asked then, because there was no row, it is prepared again.
bool ChangeLog::begin_reading(RowSelect& rows, std::optional<Execution>& run) {
  const auto begin = [&] {
    run.emplace(*rows.select);
    if (!positions_.empty()) {
      run->bind(1, positions_.back().id);
    }
    return run->step();
  };
  if (!rows.select) {
    prepare(rows);
  }
  if (!begin()) {
    return false;
  }
  if (rows.repreparations_when_readable == run->repreparations()) {
    return true;
  }
  run.reset();
  prepare(rows);
  require_readable();
  const bool has_row = begin();
  rows.repreparations_when_readable = run->repreparations();
  return has_row;
}

// Returns false if the row that was read last is not there any more.
bool ChangeLog::read_from_last(std::uint64_t most) {
  constexpr std::uint64_t kRowsPerPosition = 4096;
  std::optional<Execution> reading;
  bool has_row = begin_reading(positions_.empty() ? select_all_ : select_from_, reading);
  Execution& run = *reading;
  RowOrder order(name_);
  if (!positions_.empty()) {
    if (!has_row || !positions_.back().matches(run)) {
      return false;
    }
    order.begin_at(run.integer(kIdColumn), run.integer(kChangeColumn));
    has_row = run.step();
  }
  Position last;
  std::uint64_t rows = 0;
  for (; has_row && rows < most; has_row = run.step()) {
    const std::int64_t id = run.integer(kIdColumn);
    const std::int64_t change = run.integer(kChangeColumn);
    order.require_next(id, change);
    const auto token = run.value(kTokenColumn).blob();
    if (token.size() != kTokenBytes) {
      fail("the table " + sqlite::quoted_text(name_) +
           " has a row without a token, which an authorizer has hidden (run the command 'merge')");
    }
    if (change == kAnnounced) {
      announcements_.push_back(id);
    }
    if (change == kAdded || change == kAnnounced) {
      add_key(run, kFirstKeyColumn);
    }
    last.id = id;
    last.token.assign(token.begin(), token.end());
    last.keys_read = keys_read();
    if (++rows % kRowsPerPosition == 0) {
      keep_position(last);
    }
  }
  if (rows % kRowsPerPosition != 0) {
    keep_position(last);
  }
  is_current_ = !has_row;
  return true;
}

// Between two positions that stay there are at most as many rows as after them. So the rows to read
// again after a rollback are at most twice those that it removed, apart from the newest.
void ChangeLog::keep_position(const Position& last) {
  constexpr std::size_t kManyPositions = 64;
  positions_.push_back(last);
  if (positions_.size() < kManyPositions) {
    return;
  }
  for (std::size_t i = positions_.size() - 2; i > 0; --i) {
    if (positions_[i + 1].id - positions_[i - 1].id <= last.id - positions_[i + 1].id) {
      positions_.erase(positions_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// Requires: there is a position, and its row is not there any more.
void ChangeLog::forget_last() {
  assert(!positions_.empty());
  positions_.pop_back();
  std::erase_if(announcements_,
                [&](std::int64_t id) { return positions_.empty() || id > positions_.back().id; });
  if (positions_.empty() || !keep_keys(positions_.back().keys_read)) {
    forget();
  }
}

void ChangeLog::forget() {
  positions_.clear();
  announcements_.clear();
  forget_keys();
  expire();
}

bool ChangeLog::is_announcement(std::int64_t id) {
  if (!select_change_) {
    select_change_.emplace(db_, "SELECT added FROM " + qualified() + " WHERE id = ?1",
                           find_damage());
  }
  Execution run(*select_change_);
  return run.bind(1, id).step() && run.integer(0) == kAnnounced;
}

bool ChangeLog::has_announcement() const {
  require_readable();
  const Statement select(
      db_, "SELECT 1 FROM " + qualified() + " WHERE added = " + std::to_string(kAnnounced),
      find_damage());
  return Execution(select).step();
}

// Reads no more columns than needed: each one takes about a twentieth of the time of a merge.
void ChangeLog::for_each_row(const EachRow& f, std::int64_t last) const {
  enum { kIdOfRow, kChangeOfRow, kFirstPart };
  require_readable();
  const Statement select(
      db_,
      "SELECT id, " + change_column_list() + " FROM " + qualified() + " WHERE id <= ?1 ORDER BY id",
      find_damage());
  Execution run(select);
  run.bind(1, last);
  RowOrder order(name_);
  while (run.step()) {
    const auto change = run.integer(kChangeOfRow);
    order.require_next(run.integer(kIdOfRow), change);
    f(static_cast<Change>(change), run, kFirstPart);
  }
}

// Rows are appended, and only deleted all at once, so their ids have no gaps.
std::uint64_t ChangeLog::size() const {
  const std::string id = "(SELECT id FROM " + qualified() + " ORDER BY id ";
  const Statement select(db_, "SELECT " + id + "DESC LIMIT 1) - " + id + "LIMIT 1) + 1",
                         find_damage());
  Execution run(select);
  run.step();
  return static_cast<std::uint64_t>(run.integer(0));
}

// Rows that stay get other tokens: no connection then mistakes the rows before them for rows that
// it has read. A row that a trigger keeps would be merged twice: a counting filter would then count
// an added key twice, and lose a removed key that was added again.
void ChangeLog::clear(Keep keep, std::int64_t last) {
  const std::string up_to = " WHERE id <= " + std::to_string(last);
  const auto run = [&](const std::string& sql) {
    const Statement statement(db_, sql, find_damage());
    return Execution(statement).step();
  };
  const auto added = [](Change change) {
    return "added = " + std::to_string(static_cast<int>(change));
  };
  const auto erase = [&](const std::string& where) {
    run("DELETE FROM " + qualified() + where);
    if (run("SELECT 1 FROM " + qualified() + where)) {
      fail("rows of the table " + sqlite::quoted_text(name_) +
           " stay after they were merged and deleted (drop the trigger on it that keeps them)");
    }
  };
  const std::string but_announced = up_to + " AND NOT (" + added(kAnnounced);
  if (keep == Keep::nothing) {
    erase(last == kLastId ? "" : up_to);
  } else if (keep == Keep::announcements) {
    erase(but_announced + ")");
  } else {
    run("UPDATE " + qualified() + " SET " + added(kKept) + up_to + " AND " + added(kRemoved));
    erase(but_announced + " OR id IN (SELECT min(id) FROM " + qualified() + " WHERE " +
          added(kKept) + " GROUP BY key1))");
  }
  if (keep != Keep::nothing) {
    run("UPDATE " + qualified() + " SET token = randomblob(8)" + up_to);
  }
  expire();
}

}  // namespace bloom
