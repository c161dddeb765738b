#include "sql/search_table/search_source.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/support/error.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::execute;
using sqlite::Execution;
using sqlite::quoted_name;
using sqlite::quoted_text;
using sqlite::Statement;

// Returns the position of the first "(" that is in no name; the size of the text if there is none.
std::size_t first_bracket(std::string_view sql) {
  std::size_t i = 0;
  while (i < sql.size() && sql[i] != '(') {
    i += sqlite::quoted_size(sql.substr(i));
  }
  return std::min(i, sql.size());
}

}  // namespace

// The triggers depend on covered_, so this object makes them.
SearchSource::SearchSource(sqlite3* db, const std::string& schema, std::string table,
                           const SearchOptions& options, std::string guard)
    : db_(db),
      table_(std::move(table)),
      guard_(std::move(guard)),
      options_(options),
      link_(db, schema, table_, {options.source(), {}},
            {{.number = kTriggersForSearch,
              .names_suffix = "",
              .make = [this](const Source&, const std::string& name,
                             const std::string&) { return triggers(name); }}},
            {kChangedSuffix, "(block INTEGER PRIMARY KEY)"}, "changes may not have been noted"),
      source_(link_.source()) {
  read_names();
  columns_ = read_columns();
  rowid_alias_ = columns_.empty() ? "" : source_.rowid_alias();
}

std::string SearchSource::column_name(std::size_t i) const {
  return sqlite::unquoted(item_sql_[i]).value_or(item_sql_[i]);
}

int SearchSource::find(const std::string& column) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const SourceColumn& each) {
    return sqlite3_stricmp(each.name.c_str(), column.c_str()) == 0;
  });
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

// Takes the names from the guard. If there is no guard, takes that of the table from a trigger, or
// else the accepted one, and the others from the options. SQLite stores the guard's table as that
// table was created, in upper and lower case.
void SearchSource::read_names() {
  link_.triggers().find_names(table_);
  SourceNames names{link_.triggers().accepted_names().table, {}};
  const std::string objects = source_.qualified("sqlite_master");
  const Statement table(
      db_, "SELECT name FROM " + objects + " WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
  if (Execution found(table); found.bind(1, names.table).step()) {
    names.table = found.value(0).text();
  }
  item_sql_.clear();
  for (const SearchedItem& item : options_.items()) {
    item_sql_.push_back(item.expression.empty() ? quoted_name(item.column)
                                                : "(" + item.expression + ")");
  }
  const Statement select(db_, "SELECT tbl_name, sql FROM " + objects +
                                  " WHERE (type = 'index' AND name = ?1 COLLATE NOCASE) OR"
                                  " (type = 'trigger' AND name = ?2 COLLATE NOCASE) ORDER BY type");
  Execution run(select);
  if (run.bind(1, guard_).bind(2, table_ + std::string(kBeforeInsertSuffix)).step()) {
    names.table = run.value(0).text();
    const std::string sql(run.value(1).text());
    const std::string_view end = ") WHERE 0";
    const std::size_t open = first_bracket(sql);
    if (open < sql.size() && sql.ends_with(end)) {
      auto items =
          split_list(std::string_view(sql).substr(open + 1, sql.size() - open - 1 - end.size()));
      if (items.size() == item_sql_.size()) {
        item_sql_ = std::move(items);
      }
    }
  }
  for (std::size_t i = 0; i < item_sql_.size(); ++i) {
    if (options_.items()[i].expression.empty()) {
      names.columns.push_back(column_name(i));
    }
  }
  source_.set_names(std::move(names));
  link_.guard().set_items(item_sql_);
}

std::vector<SourceColumn> SearchSource::read_columns() const {
  std::vector<SourceColumn> columns;
  const Statement info(db_, table_info_sql());
  Execution run(info);
  while (run.step()) {
    SourceColumn column{std::string(run.value(kInfoName).text()),
                        std::string(run.value(kInfoType).text()), "BINARY", Affinity::blob,
                        run.integer(kInfoHidden) != 0};
    const char* collation = nullptr;
    sqlite3_table_column_metadata(db_, source_.schema().c_str(), name().c_str(),
                                  column.name.c_str(), nullptr, &collation, nullptr, nullptr,
                                  nullptr);
    column.collation = collation == nullptr ? "BINARY" : collation;
    columns.push_back(std::move(column));
  }
  for (SourceColumn& column : columns) {
    column.affinity = source_.rules_of(column.name).affinity;
  }
  return columns;
}

// Columns that were renamed meanwhile are still the same, and others may have been added.
std::string SearchSource::other_columns() const {
  const std::vector<SourceColumn> now = read_columns();
  if (columns_.empty() && !now.empty()) {
    return "the source " + quoted_text(name()) + " was missing";
  }
  const std::string alias = columns_.empty() ? "" : source_.rowid_alias();
  for (const SourceColumn& column : now) {
    const int before = find(column.name);
    if (before >= 0 && (!columns_[static_cast<std::size_t>(before)].compares_as(column) ||
                        (column.name == rowid_alias_) != (column.name == alias))) {
      return "the column " + quoted_text(column.name) + " of " + quoted_text(name()) +
             " had another type or collation";
    }
  }
  return "";
}

// Not when a statement is prepared: SQLite would report an interrupt there as another error.
void SearchSource::require_same_columns() {
  if (has_same_columns_) {
    return;
  }
  link_.require_names_not_taken();
  if (const std::string problem = other_columns(); !problem.empty()) {
    fail(reopening_message(problem, table_));
  }
  if (!columns_.empty()) {
    require_rowid_alias();
  }
  has_same_columns_ = true;
}

bool SearchSource::has_index_on(const std::string& column, const std::string& collation) const {
  return std::any_of(indexed_.begin(), indexed_.end(),
                     [&](const IndexedColumn& index) { return index.is(column, collation); });
}

bool SearchSource::has_index_on_item(std::size_t i) const {
  const int column = source_column_of_item(i);
  if (column < 0) {
    return false;
  }
  const SourceColumn& own = columns_[static_cast<std::size_t>(column)];
  return own.name == rowid_alias_ || has_index_on(own.name, own.collation) ||
         has_index_on(own.name, "BINARY");
}

void SearchSource::refresh_names() {
  link_.schema_may_have_changed();
  const SchemaReader::State now = source_.reader().state();
  if (schema_of_names_ != now) {
    read_names();
    indexed_ = indexed_columns(source_);
    has_same_columns_ = false;
    schema_of_names_ = now;
    ++names_version_;
  }
}

void SearchSource::require_same_names() {
  if (schema_of_names_ == source_.reader().state()) {
    return;
  }
  const std::string table = name();
  refresh_names();
  const std::vector<SourceColumn> now = read_columns();
  const bool has_columns =
      now.size() >= columns_.size() && std::equal(columns_.begin(), columns_.end(), now.begin(),
                                                  [](const SourceColumn& a, const SourceColumn& b) {
                                                    return a.name == b.name && a.compares_as(b);
                                                  });
  if (name() != table || !has_columns) {
    fail("ALTER TABLE has changed " + quoted_text(table) + " while a query of " +
         quoted_text(table_) + " was running (run the query again)");
  }
}

// Else a range would get NULL for a key.
void SearchSource::require_readable() const {
  std::string columns = sqlite::quoted_column(rowid_alias_);
  for (const SourceColumn& column : columns_) {
    const bool is_read = std::any_of(item_sql_.begin(), item_sql_.end(), [&](const auto& sql) {
      return sqlite::may_name(sql, column.name);
    });
    if (is_read && !column.is_generated) {
      columns.append(", t.").append(quoted_name(column.name));
    }
  }
  sqlite::require_readable(db_, source_.schema(), name(), columns);
}

// Only of a table that was made: CREATE has messages of its own.
void SearchSource::require_items() const {
  source_.require_ordinary_table();
  link_.require_names_and_columns();
  require_readable();
  for (std::size_t i = 0; i < item_sql_.size() && !columns_.empty(); ++i) {
    const auto outcome = sqlite::Outcome::of(
        [&] { const Statement select(db_, "SELECT " + item_sql_[i] + " FROM " + qualified()); });
    if (outcome.code() == SQLITE_ERROR) {
      fail("the source " + quoted_text(name()) + " has no columns any more for the expression " +
           quoted_text(options_.items()[i].column) +
           " (rename the columns back; or DROP this table, and create it again with another "
           "expression)");
    }
  }
}

void SearchSource::require_supported() const {
  for (std::size_t i = 0; i < options_.items().size(); ++i) {
    const SearchedItem& item = options_.items()[i];
    const bool is_column = find(item.expression.empty() ? column_name(i) : item.column) >= 0;
    if (!columns_.empty() && is_column != item.expression.empty()) {
      fail(is_column ? "the name " + quoted_text(item.column) + " is a column of " + name() +
                           " (choose another name)"
                     : name() + " has no column " + quoted_text(item.column) +
                           " (an expression needs a name: payload->>'$.id' AS id)");
    }
  }
  source_.require_ordinary_table();
  require_rowid_alias();
}

void SearchSource::require_rowid_alias() const {
  if (rowid_alias_.empty()) {
    fail("cannot search " + quoted_text(name()) +
         ": it has no INTEGER PRIMARY KEY, and VACUUM may renumber the rows of such a table (give "
         "it a column id INTEGER PRIMARY KEY)");
  }
}

std::optional<std::string> SearchSource::out_of_sync(std::optional<std::int64_t> covered) {
  if (covered_ != covered) {
    covered_ = covered;
    link_.forget_check();
  }
  if (!link_.still_passes()) {
    read_names();
    require_readable();
    link_.require_readable(table_);
    select_changed_.reset();
  }
  return link_.check(table_, {kTriggersForSearch, guard_});
}

void SearchSource::set_covered(std::optional<std::int64_t> covered) {
  covered_ = covered;
  link_.triggers().uninstall(table_);
  link_.triggers().install(table_, kTriggersForSearch);
}

void SearchSource::make_objects() {
  require_supported();
  covered_.reset();
  guard_ = link_
               .restore(table_, {kTriggersForSearch, guard_}, kTriggersForSearch,
                        /*triggers_are_current=*/false)
               .guard_index;
}

void SearchSource::rename(const std::string& new_table, std::optional<std::int64_t> covered,
                          const std::function<void()>& rename_tables) {
  read_names();
  covered_ = covered;
  link_.rename(table_, new_table, {kTriggersForSearch, guard_}, rename_tables);
  table_ = new_table;
  select_changed_.reset();
}

// BEFORE INSERT cannot tell the rowid -1 from one that SQLite will choose, so that row always
// counts as changed.
RowidRanges SearchSource::changed_rows() {
  if (!select_changed_) {
    select_changed_.emplace(db_, "SELECT block FROM " + changed_table() + " UNION SELECT -1 FROM " +
                                     qualified() + " WHERE " + sqlite::quoted_column(rowid_alias_) +
                                     " = -1 ORDER BY 1");
  }
  RowidRanges ranges;
  Execution run(*select_changed_);
  while (run.step()) {
    const std::int64_t block = run.integer(0);
    if (block < -kAllBlocks || block >= kAllBlocks) {
      return {{kLowestRowid, kHighestRowid}};
    }
    const std::int64_t first = block * (std::int64_t{1} << kBlockBits);
    ranges.push_back({first, first + ((std::int64_t{1} << kBlockBits) - 1)});
  }
  return ranges;
}

void SearchSource::forget_changes() const { execute(db_, "DELETE FROM " + changed_table()); }

}  // namespace bloom
