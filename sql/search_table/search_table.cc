#include "sql/search_table/search_table.h"

#include <algorithm>
#include <array>

#include "core/support/error.h"
#include "sql/search_table/search_match.h"
#include "sql/sqlite/connection.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {
SearchTable::SearchTable(const sqlite::Definition& definition, Shared& shared)
    : db_(definition.db),
      shared_(shared),
      options_(definition.db, definition.arguments),
      store_(definition.db, definition.schema, definition.table),
      source_(definition.db, definition.schema, definition.table, options_, store_.load_guard()),
      columns_(definition.table, source_, options_),
      transaction_(definition.db),
      to_number_(definition.db),
      list_collations_(definition.db, definition.vtab),
      table_filter_(store_, source_,
                    searched_[static_cast<std::size_t>(Family::values_and_words)]) {
  for (std::size_t i = 0; i < options_.items().size(); ++i) {
    const SearchedItem& item = options_.items()[i];
    const int column = columns_.column_of_item(i);
    const bool is_column = column < columns_.source_columns();
    const std::string collation =
        is_column ? source_.columns()[static_cast<std::size_t>(column)].collation : "BINARY";
    searched_[item.by == SearchedBy::like ? 1 : 0].push_back(
        {item.by, static_cast<std::uint32_t>(i), collation_of_keys(collation)});
  }
  shared_.tables.push_back(this);
}

SearchTable::~SearchTable() {
  shared_.tables.erase(std::find(shared_.tables.begin(), shared_.tables.end(), this));
}

void SearchTable::create() {
  columns_.require_table_name_is_free();
  source_.require_no_other_writer();
  source_.require_supported();
  SearchConfig config;
  for (const Family f : kFamilies) {
    if (const auto& columns = searched_[static_cast<std::size_t>(f)]; !columns.empty()) {
      config.of(f).header = header_of(columns);
    }
  }
  store_.create(config);
  source_.make_objects();
  config.guard = source_.guard();
  source_.refresh_names();
  cover(config, {});
  transaction_.created();
  store_.tables().note_connected();
}

void SearchTable::connect() {
  store_.tables().note_connected();
  watch_others();
}

// Other objects of this name are out of date. Statements that are running may still use them.
void SearchTable::watch_others() {
  for (SearchTable* const other : shared_.tables) {
    if (other != this &&
        sqlite3_stricmp(other->store_.tables().schema().c_str(),
                        store_.tables().schema().c_str()) == 0 &&
        sqlite3_stricmp(other->name(), name()) == 0) {
      other->store_.tables().watch_name();
    }
  }
}

void SearchTable::destroy() {
  idle_searches_.clear();
  idle_statements_.clear();
  source_.drop();
  store_.tables().watch_name();  // a rollback may give the table back
  store_.tables().drop();
}

void SearchTable::rename(const char* name) {
  SearchColumns(name, source_, options_).require_table_name_is_free();
  require_usable();
  store_.tables().require_names_are_free(name);
  const SearchConfig config = store_.load_config();
  store_.tables().watch_name();
  source_.rename(name, config.covered, [&] { store_.tables().rename(name); });
  transaction_.note_renamed();
  table_filter_.expire();
  watch_others();
}

void SearchTable::require_usable() {
  if (transaction_.may_have_old_name()) {
    refuse_renamed();
  }
  store_.tables().require_same_table();
}

// FTS5 searches all columns by <table name> MATCH or =. Here this column is NULL, so no row would
// be found.
void SearchTable::refuse_conditions_on_commands(const sqlite3_index_info& info) const {
  const auto* const begin = info.aConstraint;
  if (std::any_of(begin, begin + info.nConstraint, [&](const auto& each) {
        return (each.op == SQLITE_INDEX_CONSTRAINT_MATCH || is_equality(each.op)) &&
               each.iColumn == columns_.command() && each.iColumn >= columns_.value_columns();
      })) {
    fail(sqlite::quoted_text(store_.tables().table()) +
         " is not a column to search (name one, as in msg MATCH 'word')");
  }
}

// On the source, a name in double quotes that is no column is a string: level = "info". Here it is
// a property, and the query would miss rows. SQLite says of an UPDATE that it uses all columns.
void SearchTable::refuse_properties_of_rows(const sqlite3_index_info& info) const {
  constexpr sqlite3_uint64 kAnyColumn = ~sqlite3_uint64{0};
  const auto is_used = [&](int column) { return (info.colUsed >> column & 1U) != 0; };
  int property = columns_.value_columns();
  while (columns_.has_property(property) && !is_used(property)) {
    ++property;
  }
  if (!columns_.has_property(property) || info.colUsed == kAnyColumn) {
    return;
  }
  const auto* const begin = info.aConstraint;
  const bool has_condition = std::any_of(begin, begin + info.nConstraint, [](const auto& each) {
    return each.op != SQLITE_INDEX_CONSTRAINT_LIMIT && each.op != SQLITE_INDEX_CONSTRAINT_OFFSET;
  });
  const sqlite3_uint64 values = (sqlite3_uint64{1} << columns_.value_columns()) - 1;
  if (has_condition || (info.colUsed & values) != 0) {
    refuse_hidden(
        Search::hidden_columns()[static_cast<std::size_t>(columns_.property(property))].name);
  }
}

void SearchTable::refuse_hidden(std::string_view column) const {
  fail(sqlite::quoted_text(column) + " is a hidden column and cannot be read with rows of " +
       sqlite::quoted_text(source_.name()) +
       " (write a string in single quotes, and read hidden columns in a query of their own)");
}

int SearchTable::best_index(sqlite3_index_info& info) {
  SearchConfig config;
  refuse_conditions_on_commands(info);
  refuse_properties_of_rows(info);
  table_filter_.expire();
  filtered_plan_.clear();
  list_collations_.statement_was_prepared();
  outer_join_.reset();
  forget_like();
  const auto outcome = sqlite::Outcome::of([&] {
    source_.refresh_names();
    config = store_.load_config();
  });
  // SQLite would report an error of another code. After SQLITE_SCHEMA it prepares the statement
  // again before it runs, and after the others the statement meets the lock itself.
  must_refresh_names_ = outcome.failed();
  constexpr std::array kExcused = {SQLITE_SCHEMA, SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT};
  if (std::find(kExcused.begin(), kExcused.end(), outcome.code() & 0xff) == kExcused.end()) {
    outcome.throw_failure();
  }
  choose_search_plan(info, facts(config));
  return SQLITE_OK;
}

void SearchTable::refresh_names_if_needed() {
  if (must_refresh_names_) {
    source_.refresh_names();
    must_refresh_names_ = false;
  }
}

// Explaining a statement prepares it, so the result is stored last.
bool SearchTable::may_be_outer_join() {
  std::string running = sqlite::running_sql(db_);
  if (!outer_join_ || outer_join_->first != running) {
    const bool found = sqlite::may_be_running_outer_join(db_);
    outer_join_.emplace(std::move(running), found);
  }
  return outer_join_->second;
}

int SearchTable::update(const Values& values) {
  require_usable();
  if (!transaction_.is_open()) {
    refuse_rolled_back();
  }
  const bool is_insert = values.size() > 1 && values[0].is_null();
  const Value command = is_insert ? values[2 + columns_.command()] : values[0];
  if (!is_insert || command.is_null()) {
    const std::string source = sqlite::quoted_text(source_.name());
    fail("cannot change the rows of " + source + " through this table (change " + source +
         " instead)");
  }
  source_.refresh_names();
  source_.require_same_columns();
  transaction_.note_write_for_cursors();
  const TransactionState::CommandScope scope(transaction_);
  store_.tables().atomically([&] { run(command); });
  return SQLITE_OK;
}

const sqlite::ScalarFunction* SearchTable::find_function(int arguments, const char* name) noexcept {
  return arguments == 2 && sqlite3_stricmp(name, "match") == 0 ? &kWordsMatch : nullptr;
}

void add_search_module(sqlite3* db) {
  add_row_receiver_function(db);
  sqlite::add_function(db, kWordsMatch);
  sqlite::Module<SearchTable>::add(db);
}

}  // namespace bloom
