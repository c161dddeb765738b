#include "sql/table/change_log.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/hashing/key.h"
#include "core/sizing/sizing.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/key.h"

namespace bloom {
namespace {

using sqlite::execute;
using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::SqliteError;
using sqlite::Statement;

constexpr std::int64_t kFirstId = std::numeric_limits<std::int64_t>::min();
// The columns of the log, in the order of SELECT *. The values of the key follow.
enum { kId, kToken, kAdded, kKey };

// The key in a row of the log, whose values begin at column `first`.
struct RowKey {
  std::optional<Hash> hash;             // nullopt if a part of the key is NULL
  bool is_noncanonical_number = false;  // see Key
};

RowKey key_of_row(const Execution& row, int first, const Shape& shape) {
  const int columns = row.columns();
  if (columns == first + 1) {
    const Key key(row.value(first));
    return key.is_null() ? RowKey() : RowKey{key.hash(shape), key.is_noncanonical_number()};
  }
  std::string composite;
  for (int i = first; i < columns; ++i) {
    const Key part(row.value(i));
    if (part.is_null()) {
      return {};
    }
    append_part(composite, part.bytes());
  }
  return {hash_key(composite, shape.collation, shape.seed)};
}

}  // namespace

std::string ChangeLog::column_list(std::size_t columns) {
  std::string list(kColumns);
  for (std::size_t i = 1; i <= columns; ++i) {
    list.append(", key").append(std::to_string(i));
  }
  return list + ")";
}

void KeySketch::add(Hash hash) {
  constexpr std::uint64_t kFirst = 1000;
  constexpr std::uint64_t kFactor = 4;
  constexpr double kFpr = 0.0001;
  if (free_keys_ == 0) {
    const std::uint64_t keys =
        filters_.empty() ? kFirst : kFactor * filters_.back().header().capacity;
    filters_.emplace_back(size_filter(std::min(keys, kMaxKeys), kFpr, Kind::standard));
    free_keys_ = keys;
  }
  filters_.back().add(hash);
  --free_keys_;
}

bool KeySketch::may_contain(Hash hash) const {
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const Filter& filter) { return filter.may_contain(hash); });
}

void KeySketch::clear() {
  filters_.clear();
  free_keys_ = 0;
}

std::string ChangeLog::qualified() const { return quoted_name(schema_) + "." + quoted_name(name_); }

// Returns the columns of the table as its CREATE statement lists them, if it is a log; else "".
std::string ChangeLog::definition() const {
  const std::string sql = sqlite::stored_sql(db_, schema_, "table", name_);
  return sql.substr(std::min(sql.rfind(kColumns), sql.size()));
}

// Returns "added, key1, ...".
std::string ChangeLog::change_column_list() const {
  const std::string columns = definition();
  if (columns.empty()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB,
                      "the table of pending changes is missing or has changed");
  }
  const std::size_t begin = kColumns.rfind("added");
  return columns.substr(begin, columns.size() - begin - 1);
}

bool ChangeLog::exists(std::size_t columns) const { return definition() == column_list(columns); }

void ChangeLog::create(std::size_t columns) {
  if (exists(columns)) {
    return clear();
  }
  execute(db_, "CREATE TABLE " + qualified() + column_list(columns));
}

void ChangeLog::drop() {
  select_.reset();
  execute(db_, "DROP TABLE IF EXISTS " + qualified());
}

void ChangeLog::rename(const std::string& table) {
  select_.reset();
  const std::string name = table + std::string(kSuffix);
  execute(db_, "ALTER TABLE " + qualified() + " RENAME TO " + quoted_name(name));
  name_ = name;
}

void ChangeLog::read_new_rows(const Shape& shape) {
  if (!last_read_ || !read_from(last_read_->id, shape)) {
    last_read_.reset();
    added_keys_.clear();
    read_from(kFirstId, shape);
  }
  is_current_ = true;
}

bool ChangeLog::Position::matches(const Execution& row) const {
  const auto other = row.value(kToken).blob();
  return id == row.integer(kId) &&
         std::equal(token.begin(), token.end(), other.begin(), other.end());
}

void ChangeLog::Position::set_to(const Execution& row) {
  const auto from = row.value(kToken).blob();
  id = row.integer(kId);
  token.assign(from.begin(), from.end());
}

// Returns false if the row that was read last is not there any more.
bool ChangeLog::read_from(std::int64_t id, const Shape& shape) {
  if (!select_) {
    select_.emplace(db_, "SELECT * FROM " + qualified() + " WHERE id >= ?1 ORDER BY id",
                    SQLITE_CORRUPT_VTAB);
  }
  Execution run(*select_);
  run.bind(1, id);
  if (last_read_) {
    if (!run.step() || !last_read_->matches(run)) {
      return false;
    }
  }
  while (run.step()) {
    const RowKey key = run.integer(kAdded) == 0 ? RowKey() : key_of_row(run, kKey, shape);
    if (key.hash) {
      added_keys_.add(*key.hash);
    }
    if (key.is_noncanonical_number && !added_keys_.may_contain(noncanonical_marker(shape))) {
      added_keys_.add(noncanonical_marker(shape));
    }
    if (!last_read_) {
      last_read_ = Position();
    }
    last_read_->set_to(run);
  }
  return true;
}

// Reads no more columns than needed: each one takes about a twentieth of the time of a merge.
void ChangeLog::for_each_change(const Shape& shape, const EachChange& f) const {
  enum { kIsAddition, kFirstPart };
  const Statement select(db_,
                         "SELECT " + change_column_list() + " FROM " + qualified() + " ORDER BY id",
                         SQLITE_CORRUPT_VTAB);
  Execution run(select);
  bool marker_added = false;
  while (run.step()) {
    const bool added = run.integer(kIsAddition) != 0;
    const RowKey key = key_of_row(run, kFirstPart, shape);
    if (key.hash) {
      f(added, *key.hash);
    }
    if (added && !marker_added && key.is_noncanonical_number) {
      marker_added = true;
      f(true, noncanonical_marker(shape));
    }
  }
}

// Rows are appended, and only deleted all at once, so their ids have no gaps.
std::uint64_t ChangeLog::size() const {
  const std::string from = "(id) FROM " + qualified();
  const Statement select(db_, "SELECT (SELECT max" + from + ") - (SELECT min" + from + ") + 1",
                         SQLITE_CORRUPT_VTAB);
  Execution run(select);
  run.step();
  return static_cast<std::uint64_t>(run.integer(0));
}

void ChangeLog::clear() {
  const Statement erase(db_, "DELETE FROM " + qualified(), SQLITE_CORRUPT_VTAB);
  Execution(erase).step();
  expire();
}

}  // namespace bloom
