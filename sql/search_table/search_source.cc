#include "sql/search_table/search_source.h"

#include <algorithm>
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

SourceNames names_of(const SearchOptions& options) {
  SourceNames names{options.source(), {}};
  for (const SearchedTerm& term : options.terms()) {
    if (term.expression.empty()) {
      names.columns.push_back(term.column);
    }
  }
  return names;
}

}  // namespace

SearchSource::SearchSource(sqlite3* db, std::string schema, std::string table,
                           const SearchOptions& options, std::string guard)
    : db_(db),
      schema_(std::move(schema)),
      table_(std::move(table)),
      guard_(std::move(guard)),
      options_(options),
      source_(db, schema_, names_of(options)) {
  read_names();
  read_columns();
}

std::string SearchSource::qualified(const std::string& name) const {
  return quoted_name(schema_) + "." + quoted_name(name);
}

std::string SearchSource::column_name(std::size_t i) const {
  return sqlite::unquoted(term_sql_[i]).value_or(term_sql_[i]);
}

int SearchSource::find(const std::string& column) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const SourceColumn& each) {
    return sqlite3_stricmp(each.name.c_str(), column.c_str()) == 0;
  });
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

// Takes the names from the guard, or from the options if there is no guard. SQLite stores the
// guard's table as that table was created, in upper and lower case.
void SearchSource::read_names() {
  name_ = options_.source();
  const Statement table(db_, "SELECT name FROM " + qualified("sqlite_master") +
                                 " WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
  if (Execution found(table); found.bind(1, name_).step()) {
    name_ = found.value(0).text();
  }
  term_sql_.clear();
  for (const SearchedTerm& term : options_.terms()) {
    term_sql_.push_back(term.expression.empty() ? quoted_name(term.column)
                                                : "(" + term.expression + ")");
  }
  const Statement select(db_, "SELECT tbl_name, sql FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'index' AND name = ?1 COLLATE NOCASE");
  Execution run(select);
  if (run.bind(1, guard_).step()) {
    const std::string sql(run.value(1).text());
    const std::string_view end = ") WHERE 0";
    const std::size_t open = sql.find('(', sql.find(" ON ") + 1);
    if (open != std::string::npos && sql.ends_with(end)) {
      auto terms =
          split_list(std::string_view(sql).substr(open + 1, sql.size() - open - 1 - end.size()));
      if (terms.size() == term_sql_.size()) {
        name_ = run.value(0).text();
        term_sql_ = std::move(terms);
      }
    }
  }
  SourceNames names{name_, {}};
  for (std::size_t i = 0; i < term_sql_.size(); ++i) {
    if (options_.terms()[i].expression.empty()) {
      names.columns.push_back(column_name(i));
    }
  }
  source_.set_names(std::move(names));
}

void SearchSource::read_columns() {
  enum { kName = 1, kType = 2, kKey = 5, kHidden = 6 };
  columns_.clear();
  const Statement info(db_, "PRAGMA " + qualified("table_xinfo") + "(" + quoted_name(name_) + ")");
  Execution run(info);
  while (run.step()) {
    SourceColumn column{std::string(run.value(kName).text()), std::string(run.value(kType).text()),
                        "BINARY", Affinity::blob, run.integer(kHidden) != 0};
    const char* collation = nullptr;
    sqlite3_table_column_metadata(db_, schema_.c_str(), name_.c_str(), column.name.c_str(), nullptr,
                                  &collation, nullptr, nullptr, nullptr);
    column.collation = collation == nullptr ? "BINARY" : collation;
    columns_.push_back(std::move(column));
  }
  for (SourceColumn& column : columns_) {
    Source one(db_, schema_, {name_, {column.name}});
    column.affinity = one.affinity();
  }
  rowid_alias_ = columns_.empty() ? "" : source_.rowid_alias();
}

void SearchSource::read_indexes() {
  enum { kName = 1, kPartial = 4, kColumn = 2, kCollation = 4 };
  indexed_.clear();
  const Statement list(db_, "PRAGMA " + qualified("index_list") + "(" + quoted_name(name_) + ")");
  Execution run(list);
  while (run.step()) {
    const Statement info(db_, "PRAGMA " + qualified("index_xinfo") + "(" +
                                  quoted_name(run.value(kName).text()) + ")");
    Execution first(info);
    if (run.integer(kPartial) == 0 && first.step() && first.type(kColumn) == SQLITE_TEXT) {
      indexed_.emplace_back(first.value(kColumn).text(), first.value(kCollation).text());
    }
  }
}

bool SearchSource::has_index_on(const std::string& column, const std::string& collation) const {
  return std::any_of(indexed_.begin(), indexed_.end(), [&](const auto& index) {
    return sqlite3_stricmp(index.first.c_str(), column.c_str()) == 0 &&
           sqlite3_stricmp(index.second.c_str(), collation.c_str()) == 0;
  });
}

void SearchSource::refresh_names() {
  checked_changes_ = -1;
  const Source::SchemaState now = source_.schema_state();
  if (schema_of_names_ != now) {
    read_names();
    read_indexes();
    schema_of_names_ = now;
  }
}

void SearchSource::require_supported() const {
  for (std::size_t i = 0; i < options_.terms().size(); ++i) {
    const SearchedTerm& term = options_.terms()[i];
    const bool is_column = find(term.expression.empty() ? column_name(i) : term.column) >= 0;
    if (!columns_.empty() && is_column != term.expression.empty()) {
      fail(is_column ? "the name " + quoted_text(term.column) + " is a column of " + name_ +
                           " (choose another name)"
                     : name_ + " has no column " + quoted_text(term.column) +
                           " (an expression needs a name: payload->>'$.id' AS id)");
    }
  }
  source_.require_ordinary_table();
  if (rowid_alias_.empty()) {
    fail("cannot search " + quoted_text(name_) +
         ": it has no INTEGER PRIMARY KEY, and VACUUM may renumber the rows of such a table (give "
         "it a column id INTEGER PRIMARY KEY)");
  }
}

std::string SearchSource::guard_sql() const {
  std::string terms;
  for (const std::string& sql : term_sql_) {
    terms.append(terms.empty() ? "" : ", ").append(sql);
  }
  return quoted_name(guard_) + " ON " + quoted_name(name_) + "(" + terms + ") WHERE 0";
}

// A column that SQLite computes, or an expression, may change with any column.
std::vector<SearchSource::Trigger> SearchSource::triggers(
    std::optional<std::int64_t> covered) const {
  const std::string source = quoted_name(name_);
  const std::string id = quoted_name(rowid_alias_);
  const std::string changed = quoted_name(changed_table());
  // 2^63 is no integer literal.
  const std::string last = !covered || *covered == kLowestRowid ? "(-9223372036854775807 - 1)"
                                                                : std::to_string(*covered);
  const auto block_of = [](const std::string& rowid) {
    return "(" + rowid + " >> " + std::to_string(kBlockBits) + ")";
  };
  const auto note = [&](const std::string& block) {
    const std::string if_missing =
        " WHERE NOT EXISTS (SELECT 1 FROM " + changed + " WHERE block = " + block + ");";
    return " BEGIN INSERT OR IGNORE INTO " + changed + "(block) SELECT " + block + if_missing +
           " SELECT raise(ABORT, 'the changed row of a search table was not noted')" + if_missing +
           " END";
  };
  const std::string new_id = "new." + id;
  const std::string largest = std::to_string(kHighestRowid);
  const std::string chosen =
      "(SELECT CASE max(" + id + ") WHEN " + largest + " THEN " + std::to_string(kAllBlocks) +
      " ELSE " + block_of("(coalesce(max(" + id + "), 0) + 1)") + " END FROM " + source + ")";
  // UPDATE OF fires only if SET has one of these names: the rowid has four.
  std::string named = " OF " + id + ", rowid, oid, _rowid_";
  std::string differs = "old." + id + " <> " + new_id;
  bool any_update = false;
  for (std::size_t i = 0; i < options_.terms().size(); ++i) {
    const int column = column_of_term(i);
    any_update =
        any_update || column < 0 || columns_[static_cast<std::size_t>(column)].is_generated;
    const std::string& sql = term_sql_[i];
    named.append(", ").append(sql);
    differs.append(" OR old.").append(sql).append(" IS NOT new.").append(sql);
    differs.append(" COLLATE BINARY OR typeof(old.").append(sql).append(") <> typeof(new.");
    differs.append(sql).append(")");
  }
  const auto trigger = [&](const char* suffix, const std::string& event, const std::string& body) {
    const std::string name = table_ + suffix;
    return Trigger{name, "CREATE TRIGGER " + quoted_name(name) + event + body};
  };
  const std::string on = " ON " + source + " WHEN " + new_id + " <= " + last;
  return {trigger("_before_insert",
                  " BEFORE INSERT" + on + " AND (" + new_id + " <> -1 OR ifnull((SELECT max(" + id +
                      ") FROM " + source + ") NOT BETWEEN " + last + " AND " +
                      std::to_string(kHighestRowid - 1) + ", 1))",
                  note("(CASE " + new_id + " WHEN -1 THEN " + chosen + " ELSE " + block_of(new_id) +
                       " END)")),
          trigger("_after_insert", " AFTER INSERT" + on, note(block_of(new_id))),
          trigger("_before_update",
                  " BEFORE UPDATE" + (any_update ? on : named + on + " AND (" + differs + ")"),
                  note(block_of(new_id))),
          trigger("_last", " BEFORE UPDATE ON " + changed,
                  " BEGIN SELECT raise(ABORT, 'the rows of this table do not change'); END")};
}

// Returns what is missing or has changed: a trigger, the guard or the table of changes.
std::string SearchSource::missing_part(std::optional<std::int64_t> covered) const {
  const Statement select(db_, "SELECT sql, rowid FROM " + qualified("sqlite_master") +
                                  " WHERE type = 'trigger' AND name = ?1 COLLATE NOCASE");
  std::int64_t newest = 0;
  for (const Trigger& wanted : triggers(covered)) {
    Execution run(select);
    if (!run.bind(1, wanted.name).step() || !sqlite::same_sql(run.value(0).text(), wanted.sql) ||
        run.integer(1) < newest) {
      return "the trigger " + quoted_text(wanted.name);
    }
    newest = std::max(newest, run.integer(1));
  }
  if (!sqlite::same_sql(sqlite::stored_sql(db_, schema_, "index", guard_),
                        "CREATE INDEX " + guard_sql())) {
    return "the index " + quoted_text(guard_);
  }
  if (!sqlite::stored_sql(db_, schema_, "table", changed_table()).ends_with(kChangedColumns)) {
    return "the table " + quoted_text(changed_table());
  }
  const Statement others(
      db_, "SELECT name FROM " + qualified("sqlite_master") +
               " WHERE type IN ('index', 'trigger') AND tbl_name = ?1 COLLATE NOCASE AND "
               "name <> ?2 COLLATE NOCASE UNION ALL SELECT name FROM sqlite_temp_master WHERE "
               "type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE AND name <> ?2 COLLATE NOCASE");
  Execution run(others);
  const std::string changed = changed_table();
  const std::string sentinel = table_ + "_last";
  return run.bind(1, changed).bind(2, sentinel).step()
             ? "another program has made " + quoted_text(run.value(0).text()) + " on the table " +
                   quoted_text(changed_table()) + ", which"
             : "";
}

// While the connection changes no row, it can miss none, also if a statement that is already
// running goes on after the schema has changed.
std::optional<std::string> SearchSource::out_of_sync(std::optional<std::int64_t> covered) {
  if (checked_schema_ && checked_changes_ == source_.total_changes() &&
      checked_covered_ == covered) {
    return std::nullopt;
  }
  const Source::SchemaState now = source_.schema_state();
  if (checked_schema_ != now || checked_covered_ != covered) {
    checked_schema_.reset();
    read_names();
    select_changed_.reset();
    if (const std::string part = missing_part(covered); !part.empty()) {
      return part +
             " is missing or has changed, so changes may not have been noted (the command "
             "'rebuild' fixes that; if the source no longer exists, run DROP TABLE)";
    }
  }
  checked_schema_ = now;
  checked_changes_ = source_.total_changes();
  checked_covered_ = covered;
  return std::nullopt;
}

// Another program may have given such a name to a trigger of its own.
void SearchSource::drop_triggers() const {
  for (const Trigger& trigger : triggers(std::nullopt)) {
    if (sqlite::stored_sql(db_, schema_, "trigger", trigger.name)
            .find(quoted_name(changed_table())) != std::string::npos) {
      execute(db_, "DROP TRIGGER " + qualified(trigger.name));
    }
  }
}

void SearchSource::set_covered(std::optional<std::int64_t> covered) const {
  drop_triggers();
  for (const Trigger& trigger : triggers(covered)) {
    constexpr std::string_view kCreate = "CREATE TRIGGER ";
    execute(db_,
            std::string(kCreate) + quoted_name(schema_) + "." + trigger.sql.substr(kCreate.size()));
  }
}

void SearchSource::create(std::optional<std::int64_t> covered) {
  require_supported();
  drop_triggers();
  const auto has = [&](const std::string& name) {
    const Statement select(
        db_, "SELECT 1 FROM " + qualified("sqlite_master") + " WHERE name = ?1 COLLATE NOCASE");
    return Execution(select).bind(1, name).step();
  };
  if (guard_.empty() || !has(guard_)) {
    const std::string first = table_ + "_guard";
    guard_ = first;
    for (int i = 2; has(guard_); ++i) {
      guard_ = first + std::to_string(i);
    }
    execute(db_, "CREATE INDEX " + quoted_name(schema_) + "." + guard_sql());
  }
  const std::string stored = sqlite::stored_sql(db_, schema_, "table", changed_table());
  if (stored.empty()) {
    execute(db_, "CREATE TABLE " + qualified(changed_table()) + std::string(kChangedColumns));
  } else if (!stored.ends_with(kChangedColumns)) {
    fail("the table " + quoted_text(changed_table()) +
         " has changed (drop that table, and run the command again)");
  }
  set_covered(covered);
  checked_schema_.reset();
}

void SearchSource::drop() const {
  drop_triggers();
  if (sqlite::stored_sql(db_, schema_, "index", guard_).ends_with(") WHERE 0")) {
    execute(db_, "DROP INDEX " + qualified(guard_));
  }
  execute(db_, "DROP TABLE IF EXISTS " + qualified(changed_table()));
}

void SearchSource::rename(const std::string& new_table, std::optional<std::int64_t> covered) {
  read_names();
  drop_triggers();
  execute(db_, "ALTER TABLE " + qualified(changed_table()) + " RENAME TO " +
                   quoted_name(new_table + "_changed"));
  table_ = new_table;
  set_covered(covered);
  select_changed_.reset();
  checked_schema_.reset();
}

// BEFORE INSERT cannot tell the rowid -1 from one that SQLite will choose, so that row always
// counts as changed.
RowidRanges SearchSource::changed_rows() {
  if (!select_changed_) {
    select_changed_.emplace(db_, "SELECT block FROM " + qualified(changed_table()) +
                                     " UNION SELECT -1 FROM " + qualified() + " WHERE " +
                                     quoted_name(rowid_alias_) + " = -1 ORDER BY 1");
  }
  RowidRanges ranges;
  Execution run(*select_changed_);
  while (run.step()) {
    const std::int64_t block = run.integer(0);
    if (block < -kAllBlocks || block >= kAllBlocks) {
      return {{kLowestRowid, kHighestRowid}};
    }
    const std::int64_t first = block * (std::int64_t{1} << kBlockBits);
    ranges.push_back({first, first + (std::int64_t{1} << kBlockBits) - 1});
  }
  return ranges;
}

void SearchSource::forget_changes() const {
  execute(db_, "DELETE FROM " + qualified(changed_table()));
}

}  // namespace bloom
