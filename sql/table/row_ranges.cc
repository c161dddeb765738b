#include "sql/table/row_ranges.h"

#include <utility>

#include "core/support/error.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::execute;
using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Statement;

constexpr std::string_view kChangedColumns = "(first UNIQUE)";

}  // namespace

RowRanges::RowRanges(sqlite3* db, const std::string& schema, const std::string& table,
                     const SourceNames& names, std::uint64_t rows)
    : source_(db, schema, names),
      triggers_(source_, /*counting=*/false),
      rows_(rows),
      to_number_(db),
      to_text_(db) {
  triggers_.find_names(table);
  affinity_ = source_.affinity();
}

std::string RowRanges::changed_table(const std::string& table) const {
  return source_.qualified(table + std::string(kChangedSuffix));
}

bool RowRanges::has_changed_table(const std::string& table) const {
  const std::string name = table + std::string(kChangedSuffix);
  return sqlite::stored_sql(source_.db(), source_.schema(), "table", name)
      .ends_with(kChangedColumns);
}

void RowRanges::create_changed_table(const std::string& table) const {
  execute(source_.db(), "CREATE TABLE " + changed_table(table) + std::string(kChangedColumns));
}

void RowRanges::require_supported(Collation collation) const {
  source_.require_collation(collation);
  if (source_.rowid_alias().empty()) {
    fail("cannot summarize " + quoted_text(source()) +
         ": it has no INTEGER PRIMARY KEY, and VACUUM may renumber the rows of such a table (give "
         "it a column id INTEGER PRIMARY KEY)");
  }
  if (const std::string late = source_.facts().unknown_before_write; !late.empty()) {
    fail("cannot summarize " + quoted_text(source()) + ": " + late +
         ", so triggers do not see its final value (name another column)");
  }
}

void RowRanges::require_no_other_writer(const std::string& table) const {
  if (source_.is_being_written() || source_.is_being_written_by_trigger(table)) {
    fail("cannot summarize " + quoted_text(source()) +
         " within a trigger or while another statement of this connection is writing (finish that "
         "statement first)");
  }
}

void RowRanges::create(const std::string& table, Collation collation, GroupConfig& config) {
  require_no_other_writer(table);
  require_supported(collation);
  config.guard_index = source_.make_guard(table);
  create_changed_table(table);
  triggers_.install(table, SourceTriggers::kVersionForRanges);
}

void RowRanges::drop(const std::string& table, const std::string& guard_index) {
  triggers_.uninstall(table);
  source_.drop_guard(guard_index);
  select_changed_.reset();
  execute(source_.db(), "DROP TABLE IF EXISTS " + changed_table(table));
}

void RowRanges::rename(GroupStore& store, const std::string& new_name) {
  const std::string table = store.table();
  const bool installed =
      triggers_.refresh_names_and_check(table, SourceTriggers::kVersionForRanges);
  triggers_.uninstall(table);
  select_changed_.reset();
  store.rename(new_name);
  if (has_changed_table(table)) {
    execute(source_.db(), "ALTER TABLE " + changed_table(table) + " RENAME TO " +
                              quoted_name(new_name + std::string(kChangedSuffix)));
  }
  if (installed) {
    triggers_.install(new_name, SourceTriggers::kVersionForRanges);
  }
  schema_may_have_changed();
}

void RowRanges::restore(const std::string& table, Collation collation, GroupConfig& config) {
  require_supported(collation);
  triggers_.uninstall(table);
  if (!source_.has_guard(config.guard_index)) {
    config.guard_index = source_.make_guard(table);
  }
  if (has_changed_table(table)) {
    forget_changes(table);
  } else {
    create_changed_table(table);
  }
  triggers_.install(table, SourceTriggers::kVersionForRanges);
  schema_may_have_changed();
}

std::optional<std::string> RowRanges::out_of_sync(const std::string& table,
                                                  const GroupConfig& config) {
  constexpr std::string_view kFix =
      ", so changes may not have been noted (the command 'rebuild' fixes that; if the source no "
      "longer exists, run DROP TABLE)";
  if (schema_check_.is_passed(source_)) {
    return std::nullopt;
  }
  select_changed_.reset();  // the source may have another name
  const bool has_triggers =
      triggers_.refresh_names_and_check(table, SourceTriggers::kVersionForRanges);
  if (!has_triggers || !source_.has_guard(config.guard_index)) {
    return std::string("the triggers or the index of source ") + quoted_text(source()) +
           " are missing or have changed" + std::string(kFix);
  }
  if (!has_changed_table(table)) {
    return std::string("the table ") + quoted_text(table + std::string(kChangedSuffix)) +
           " is missing or has changed" + std::string(kFix);
  }
  schema_check_.set_passed(source_);
  return std::nullopt;
}

RangeReader RowRanges::reader(const Shape& shape) const {
  return {source_, source_.rowid_alias(), rows_, shape};
}

void RowRanges::for_each_key(RowRange range, const EachKey& f) const {
  const std::string id = quoted_name(source_.rowid_alias());
  const Statement select(source_.db(), "SELECT " + source_.key_of("t") + " FROM " +
                                           source_.qualified(source()) + " AS t WHERE t." + id +
                                           " BETWEEN ?1 AND ?2");
  Execution run(select);
  run.bind(1, range.first).bind(2, range.last);
  while (run.step()) {
    if (run.type(0) != SQLITE_NULL) {
      f(run.value(0));
    }
  }
}

std::vector<Hash> RowRanges::hashes_of_equal_keys(const Key& key, const Shape& shape) {
  std::vector<Hash> keys = {key.hash(shape)};
  if (key.is_noncanonical_number()) {
    to_number_.convert(
        key.bytes(), [&](const sqlite::Value& number) { keys.push_back(Key(number).hash(shape)); });
  }
  if (key.is_number()) {
    keys.push_back(noncanonical_marker(shape));
  }
  return keys;
}

Hash RowRanges::convert_key(const Key& key, const sqlite::Value& value, const Shape& shape,
                            sqlite::ValueCopy& converted) {
  Hash hash = key.hash(shape);
  if (is_numeric(affinity_) && key.is_noncanonical_number()) {
    to_number_.convert(key.bytes(), [&](const sqlite::Value& number) {
      converted.assign(number);
      hash = Key(number).hash(shape);
    });
  } else if (affinity_ == Affinity::text && key.is_number()) {
    to_text_.convert(key, value, [&](std::string_view text) {
      converted.assign_text(text);
      hash = hash_key(text, shape.collation, shape.seed);
    });
  }
  return hash;
}

// Another trigger can keep AFTER INSERT from noting a new row -1 (RAISE(IGNORE) or RAISE(FAIL)),
// and BEFORE INSERT cannot tell that rowid from one that SQLite will choose. So the range of row -1
// always counts as changed.
std::optional<std::vector<std::int64_t>> RowRanges::changed_ranges(const std::string& table) {
  if (!select_changed_) {
    select_changed_.emplace(
        source_.db(), "SELECT first FROM " + changed_table(table) +
                          " UNION SELECT (SELECT max(member) FROM " +
                          source_.qualified(table + "_members") + " WHERE member <= -1) FROM " +
                          source_.qualified(source()) + " WHERE " +
                          quoted_name(source_.rowid_alias()) + " = -1 AND -1 <= (SELECT v FROM " +
                          source_.qualified(table + "_config") + " WHERE k = 'summarized')");
  }
  std::vector<std::int64_t> firsts;
  Execution run(*select_changed_);
  while (run.step()) {
    if (run.type(0) != SQLITE_INTEGER) {
      return std::nullopt;
    }
    firsts.push_back(run.integer(0));
  }
  return firsts;
}

void RowRanges::forget_changes(const std::string& table) const {
  execute(source_.db(), "DELETE FROM " + changed_table(table));
}

}  // namespace bloom
