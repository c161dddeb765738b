#include "sql/source/change_log.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "core/sizing/prediction.h"
#include "core/sizing/sizing.h"
#include "core/support/error.h"
#include "sql/source/source_key.h"
#include "sql/source/source_triggers.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/key.h"
#include "sql/vtab/damage.h"

namespace bloom {
namespace {

using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::Statement;

// Keys of removed rows that may stay in the cache, beside as many as there are others.
constexpr std::uint64_t kMaxLostKeys = 1000;
constexpr std::int64_t kFirstId = std::numeric_limits<std::int64_t>::min();
// The columns of the log, in the order of SELECT *. The values of the key follow.
enum { kIdColumn, kTokenColumn, kChangeColumn, kFirstKeyColumn };

// Notices rows that someone has deleted. Rows are appended with ids from 1 on, and deleted all at
// once, apart from announcements. So ids have gaps only beside announcements. OR REPLACE deletes
// rows without a trace if someone has made a UNIQUE index on the log.
class RowOrder {
 public:
  explicit RowOrder(const std::string& log) : log_(log) {}

  // `change`: the column `added`.
  void begin_at(std::int64_t id, std::int64_t change) {
    id_ = id;
    is_announcement_ = is_announcement(change);
  }
  // Throws bloom::Error if rows before this one are missing.
  void require_next(std::int64_t id, std::int64_t change) {
    if (id != id_ + 1 && !is_announcement_ && !is_announcement(change)) {
      fail("the table " + sqlite::quoted_text(log_) +
           " lacks rows, so keys may be missing from the filter (run the command 'rebuild')");
    }
    begin_at(id, change);
  }

 private:
  static bool is_announcement(std::int64_t change) {
    return change == ChangeLog::kAnnounced || change == ChangeLog::kVoid;
  }

  const std::string& log_;
  std::int64_t id_ = 0;
  bool is_announcement_ = false;
};

}  // namespace

SideTable ChangeLog::side_table(std::size_t columns) {
  std::string list(kColumns);
  for (std::size_t i = 1; i <= columns; ++i) {
    list.append(", key").append(std::to_string(i));
  }
  return {kSuffix, list + ")", "id"};
}

// The FPR of the next filter. All filters together have at most 1/8 of `fpr`, so they hardly raise
// the FPR of the table. The lowest FPR bounds the memory per key.
double KeySketch::next_fpr(double fpr) const {
  constexpr double kHighest = 1e-4;
  constexpr double kLowest = 1e-15;
  constexpr double kFirstShare = 1.0 / 16;
  const double share = std::ldexp(kFirstShare, -static_cast<int>(filters_.size()));
  return fpr == 0 ? kHighest : std::clamp(fpr * share, kLowest, kHighest);
}

void KeySketch::add(Hash hash, double fpr) {
  constexpr std::uint64_t kFirst = 1000;
  constexpr std::uint64_t kFactor = 4;
  if (free_keys_ == 0) {
    const std::uint64_t keys =
        filters_.empty() ? kFirst : kFactor * filters_.back().header().capacity;
    filters_.emplace_back(size_filter(std::min(keys, kMaxKeys), next_fpr(fpr), Kind::standard));
    free_keys_ = keys;
  }
  filters_.back().add(hash);
  --free_keys_;
}

bool KeySketch::may_contain(Hash hash) const {
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const Filter& filter) { return filter.may_contain(hash); });
}

double KeySketch::fpr() const {
  double none = 1;
  for (const Filter& filter : filters_) {
    const std::uint64_t free = &filter == &filters_.back() ? free_keys_ : 0;
    none *= 1 - predicted_fpr(filter.shape(), filter.header().capacity - free);
  }
  return 1 - none;
}

void KeySketch::clear() {
  filters_.clear();
  free_keys_ = 0;
}

std::string ChangeLog::qualified() const { return quoted_name(schema_) + "." + quoted_name(name_); }

sqlite::Statement::FindDamage ChangeLog::find_damage() const {
  return [this] {
    return sqlite::has_columns(db_, schema_, name_, {"id", "token", "added"}) ? "" : name_;
  };
}

// Returns the columns of the table as its CREATE statement lists them, if it is a log; else "".
std::string ChangeLog::definition() const {
  const std::string sql = sqlite::stored_sql(db_, schema_, "table", name_);
  return sql.substr(std::min(sql.rfind(kColumns), sql.size()));
}

// Returns "added, key1, ...".
std::string ChangeLog::change_column_list() const {
  const std::string columns = definition();
  if (columns.empty()) {
    damaged("the table of pending changes is missing or has changed");
  }
  const std::size_t begin = kColumns.rfind("added");
  return columns.substr(begin, columns.size() - begin - 1);
}

void ChangeLog::rename(const std::string& table) {
  select_.reset();
  select_change_.reset();
  name_ = table + std::string(kSuffix);
}

void ChangeLog::set_parts(const PartCollations& parts) {
  if (parts != parts_) {
    parts_ = parts;
    forget();
    expire();
  }
}

void ChangeLog::read_new_rows(const Header& header) {
  while (!read_from_last(header)) {
    forget_last();
  }
  // SQLite runs triggers one within another, so the newest announcement becomes void first.
  while (!announcements_.empty() && !is_announcement(announcements_.back())) {
    announcements_.pop_back();
  }
  is_current_ = true;
}

bool ChangeLog::Position::matches(const Execution& row) const {
  const auto other = row.value(kTokenColumn).blob();
  return id == row.integer(kIdColumn) &&
         std::equal(token.begin(), token.end(), other.begin(), other.end());
}

// Returns false if the row that was read last is not there any more.
bool ChangeLog::read_from_last(const Header& header) {
  constexpr std::uint64_t kRowsPerPosition = 4096;
  if (!select_) {
    select_.emplace(db_, "SELECT * FROM " + qualified() + " WHERE id >= ?1 ORDER BY id",
                    find_damage());
  }
  const KeyForm form{header.shape, parts_};
  Execution run(*select_);
  run.bind(1, positions_.empty() ? kFirstId : positions_.back().id);
  RowOrder order(name_);
  if (!positions_.empty()) {
    if (!run.step() || !positions_.back().matches(run)) {
      return false;
    }
    order.begin_at(run.integer(kIdColumn), run.integer(kChangeColumn));
  }
  Position last;
  std::uint64_t rows = 0;
  while (run.step()) {
    order.require_next(run.integer(kIdColumn), run.integer(kChangeColumn));
    read_row(run, form, header.fpr);
    const auto token = run.value(kTokenColumn).blob();
    last.id = run.integer(kIdColumn);
    last.token.assign(token.begin(), token.end());
    last.keys_read = keys_read_;
    if (++rows % kRowsPerPosition == 0) {
      keep_position(last);
    }
  }
  if (rows % kRowsPerPosition != 0) {
    keep_position(last);
  }
  return true;
}

void ChangeLog::read_row(const Execution& row, const KeyForm& form, double fpr) {
  const auto change = row.integer(kChangeColumn);
  if (change != kAdded && change != kAnnounced) {
    return;
  }
  if (change == kAnnounced) {
    announcements_.push_back(row.integer(kIdColumn));
  }
  const SourceKey key = key_of_row(row, kFirstKeyColumn, form);
  KeyHashes(form.shape)
      .pass(
          key, [&](Hash hash) { added_keys_.add(hash, fpr); },
          [&](Hash marker) { return added_keys_.may_contain(marker); });
  keys_read_ += key.hash ? 1 : 0;
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
  const std::uint64_t keys_left = positions_.empty() ? 0 : positions_.back().keys_read;
  lost_keys_ += keys_read_ - keys_left;
  keys_read_ = keys_left;
  std::erase_if(announcements_,
                [&](std::int64_t id) { return positions_.empty() || id > positions_.back().id; });
  if (positions_.empty() || lost_keys_ > kMaxLostKeys + keys_read_) {
    forget();
  }
}

void ChangeLog::forget() {
  positions_.clear();
  announcements_.clear();
  added_keys_.clear();
  keys_read_ = 0;
  lost_keys_ = 0;
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
  const Statement select(
      db_, "SELECT 1 FROM " + qualified() + " WHERE added = " + std::to_string(kAnnounced),
      find_damage());
  return Execution(select).step();
}

// Reads no more columns than needed: each one takes about a twentieth of the time of a merge.
void ChangeLog::for_each_change(const Shape& shape, const EachChange& f) const {
  enum { kIdOfRow, kChangeOfRow, kFirstPart };
  const Statement select(
      db_, "SELECT id, " + change_column_list() + " FROM " + qualified() + " ORDER BY id",
      find_damage());
  const KeyForm form{shape, parts_};
  Execution run(select);
  RowOrder order(name_);
  KeyHashes hashes(shape);
  while (run.step()) {
    const auto change = run.integer(kChangeOfRow);
    order.require_next(run.integer(kIdOfRow), change);
    const bool added = change == kAdded || change == kAnnounced;
    if (change == kVoid) {
      continue;
    }
    const SourceKey key = key_of_row(run, kFirstPart, form);
    if (added) {
      hashes.pass(key, [&](Hash hash) { f(true, hash); });
    } else if (key.hash || shape.kind != Kind::counting) {
      f(false, key.hash);
    }
  }
}

// Rows are appended, and only deleted all at once, so their ids have no gaps.
std::uint64_t ChangeLog::size() const {
  const std::string from = "(id) FROM " + qualified();
  const Statement select(db_, "SELECT (SELECT max" + from + ") - (SELECT min" + from + ") + 1",
                         find_damage());
  Execution run(select);
  run.step();
  return static_cast<std::uint64_t>(run.integer(0));
}

// Announcements get other tokens: no connection then mistakes the rows before them for rows that it
// has read.
void ChangeLog::clear(Keep keep) {
  const std::string announced = "added = " + std::to_string(kAnnounced);
  const auto run = [&](const std::string& sql) {
    const Statement statement(db_, sql, find_damage());
    Execution(statement).step();
  };
  if (keep == Keep::announcements) {
    run("DELETE FROM " + qualified() + " WHERE NOT " + announced);
    run("UPDATE " + qualified() + " SET token = randomblob(8)");
  } else {
    run("DELETE FROM " + qualified());
  }
  expire();
}

}  // namespace bloom
