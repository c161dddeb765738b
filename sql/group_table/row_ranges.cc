#include "sql/group_table/row_ranges.h"

#include <utility>

#include "core/support/error.h"
#include "sql/group_table/range_triggers.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::execute;
using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Statement;

std::vector<TriggerSet> trigger_sets() {
  const auto make = [](const Source& source, const std::string& table, const std::string&) {
    return triggers_that_note_ranges(source, table);
  };
  return {{.version = kVersionForRanges, .last_suffix = kBeforeUpdateSuffix, .make = make}};
}

LinkedObjects objects_of(const GroupConfig& config) {
  return {kVersionForRanges, config.guard_index};
}

}  // namespace

RowRanges::RowRanges(sqlite3* db, const std::string& schema, const std::string& table,
                     const SourceNames& names, std::uint64_t rows)
    : link_(db, schema, table, names, trigger_sets(), {kChangedSuffix, "(first UNIQUE)", "first"},
            "changes may not have been recorded"),
      source_(link_.source()),
      rows_(rows),
      affinity_(source_.affinity()),
      to_number_(db),
      to_text_(db) {}

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

void RowRanges::create(const std::string& table, Collation collation, GroupConfig& config) {
  source_.require_no_other_writer();
  require_supported(collation);
  config.guard_index = link_.create(table, kVersionForRanges).guard_index;
}

void RowRanges::drop(const std::string& table, const std::string& guard_index) {
  select_changed_.reset();
  link_.drop(table, guard_index);
}

void RowRanges::rename(GroupStore& store, const std::string& new_name) {
  select_changed_.reset();
  link_.rename(store.table(), new_name, kVersionForRanges, [&] { store.rename(new_name); });
}

void RowRanges::restore(const std::string& table, Collation collation, GroupConfig& config) {
  const bool installed = link_.triggers().refresh_names_and_check(table, kVersionForRanges);
  link_.require_columns();
  require_supported(collation);
  config.guard_index =
      link_.restore(table, objects_of(config), kVersionForRanges, /*keep_triggers=*/installed)
          .guard_index;
}

std::optional<std::string> RowRanges::out_of_sync(const std::string& table,
                                                  const GroupConfig& config) {
  return link_.check(table, objects_of(config), [&] {
    select_changed_.reset();  // the source may have another name
    return std::nullopt;
  });
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
std::optional<CountedVector<std::int64_t>> RowRanges::changed_ranges(const std::string& table) {
  if (!select_changed_) {
    select_changed_.emplace(
        source_.db(),
        "SELECT first FROM " + changed_table(table) + " UNION SELECT (SELECT max(member) FROM " +
            source_.qualified(GroupStore::members_table(table)) + " WHERE member <= -1) FROM " +
            source_.qualified(source()) + " WHERE " + quoted_name(source_.rowid_alias()) +
            " = -1 AND -1 <= (SELECT v FROM " + source_.qualified(GroupStore::config_table(table)) +
            " WHERE k = 'summarized')");
  }
  CountedVector<std::int64_t> firsts;
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
