#include "sql/table/table.h"

#include <string_view>
#include <utility>

#include "core/operations/merge.h"
#include "core/support/error.h"
#include "sql/filter_functions.h"
#include "sql/info.h"
#include "sql/sqlite/sql_text.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

constexpr std::string_view kAskTable = "ask the table itself, or halve it";
constexpr std::string_view kGivesKey =
    "one that gives the key, by key = ?, key IN (...), JOIN ... ON key = t.k or "
    "EXISTS (SELECT 1 FROM ... WHERE key = t.k)";
constexpr std::string_view kScan =
    "a scan (a Bloom filter cannot list its keys; the column info tells how many they are)";
constexpr std::string_view kScanOfOwn =
    "a scan (a Bloom filter cannot list its keys; the column info tells how many they are, and the "
    "command 'clear' empties it)";
constexpr std::string_view kCommands = "'rebuild', 'clear', 'halve' or 'integrity-check'";

void require_name(const char* name) {
  for (const char* column : {"key", "filter", "info"}) {
    if (sqlite3_stricmp(name, column) == 0) {
      refuse("the name of the table", "other than those of its columns key, filter and info",
             sqlite::quoted_text(name));
    }
  }
}

[[noreturn]] void refuse_null_key() {
  throw SqliteError(SQLITE_CONSTRAINT_NOTNULL,
                    refusal("key", "a value other than NULL, which is never a key", "NULL"));
}

// Which collations a filter of this one answers.
std::string collation_rule(Collation own) {
  if (own == Collation::binary) {
    return "BINARY, the filter's own (COLLATE BINARY asks for what is equal byte for byte; a table "
           "made with collate=nocase or collate=rtrim can compare so)";
  }
  return std::string(name_of(own)) + ", the filter's own, or binary";
}

Value column_of(const Values& columns, Column column) { return columns[static_cast<int>(column)]; }

}  // namespace

BloomTable::BloomTable(const sqlite::Definition& definition, FilterRegistry& filters)
    : db_(definition.db),
      filters_(filters),
      schema_(definition.schema),
      created_as_(definition.table),
      options_(definition.db, definition.arguments) {
  require_name(created_as_.c_str());
  if (const auto names = options_.source()) {
    follower_.emplace(db_, schema_, created_as_, *names, options_.kind());
    options_.take_collation(follower_->collation());
  }
  columns_ = "CREATE TABLE x(key COLLATE " + std::string(name_of(options_.collation())) +
             " PRIMARY KEY, filter BLOB HIDDEN, info TEXT HIDDEN, " +
             sqlite::quoted_name(created_as_) + " HIDDEN) WITHOUT ROWID";
}

void BloomTable::create() {
  filter_ = filters_.create(filter_definition());
  follower_ ? follower_->create(*filter_, options_)
            : filter_->create({.layers = {options_.header()}});
}

void BloomTable::connect() { filter_ = filters_.open(filter_definition()); }

FilterRegistry::Definition BloomTable::filter_definition() const {
  return {db_, schema_, created_as_, options_.cache_bytes(), options_.growth()};
}

void BloomTable::destroy() { follower_ ? follower_->drop(*filter_) : filter_->drop(); }

void BloomTable::rename(const char* name) {
  require_name(name);
  filter_->begin_statement();
  follower_ ? follower_->rename(*filter_, name) : filter_->rename(name);
  filters_.retire_others(*filter_, name);
}

int BloomTable::plan(sqlite3_index_info& info) {
  filter_->statement_was_prepared();
  if (follower_) {
    follower_->expect_another_schema();
  }
  return choose_plan(info, options_.collation());
}

void BloomTable::check() {
  filter_->begin_statement();
  filter_->check();
  if (follower_) {
    follower_->check(*filter_);
  }
}

int BloomTable::update(const Values& values) {
  const Value old_key = values[0];
  if (values.size() == 1) {
    remove_key(old_key);
    return SQLITE_OK;
  }
  const Values columns = values.from(2);
  if (old_key.is_null()) {
    return insert(columns);
  }
  replace_key(old_key, columns);
  return SQLITE_OK;
}

int BloomTable::insert(const Values& columns) {
  const Value filter = column_of(columns, Column::filter);
  const Value info = column_of(columns, Column::info);
  const Value command = column_of(columns, Column::command);
  if (filter.is_null() && info.is_null() && command.is_null()) {
    refuse_if_following("an INSERT into the table itself");
    return insert_key(column_of(columns, Column::key));
  }
  if (!info.is_null()) {
    refuse("a row", "a key, a filter or a command", "info, which is read only");
  }
  insert_filter_or_command(column_of(columns, Column::key), filter, command);
  return SQLITE_OK;
}

void BloomTable::insert_filter_or_command(const Value& key, const Value& filter,
                                          const Value& command) {
  if (follower_ && command.type() == SQLITE_TEXT && SourceFollower::is_change(command.text())) {
    return follower_->change(*filter_, command.text(), key);
  }
  if (!key.is_null() || (!filter.is_null() && !command.is_null())) {
    refuse("a row", "a key, a filter or a command", "more than one");
  }
  if (!command.is_null()) {
    return run_command(command);
  }
  refuse_if_following("an INSERT into the table itself");
  if (filter_->grows()) {
    refuse("a table to merge a filter into", "one that does not grow", "one that does");
  }
  sqlite::Interrupts interrupts(db_);
  const InterruptCheck check_interrupt = interrupts.check();
  const Filter fitting = halved_to_match(filter_argument(filter, "filter"), filter_->shape(),
                                         "filter", "the table has", check_interrupt);
  filter_->merge(fitting.view(), check_interrupt);
}

int BloomTable::insert_key(const Value& value) {
  const bool skip = sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE;
  const Key key(value);
  if (key.is_null()) {
    if (!skip) {
      refuse_null_key();
    }
    return SQLITE_CONSTRAINT;
  }
  const Hash hash = key.hash(filter_->shape());
  if (!skip) {
    filter_->add_deferred(hash);
    return SQLITE_OK;
  }
  const bool counting = filter_->shape().kind == Kind::counting;
  const bool is_new = counting ? !filter_->may_contain(hash) : filter_->add(hash);
  if (is_new && counting) {
    filter_->add(hash);
  }
  return is_new ? SQLITE_OK : SQLITE_CONSTRAINT;
}

void BloomTable::refuse_following(std::string_view change) const {
  refuse("a change",
         "made in the source " + sqlite::quoted_text(follower_->source()) +
             ", which the table follows",
         change);
}

void BloomTable::require_one_layer() {
  const std::size_t layers = filter_->layers().size();
  if (layers != 1) {
    refuse("the table",
           "of one layer for this (one with a source is, after 'rebuild'; one with a capacity and "
           "growth=off always)",
           "of " + std::to_string(layers));
  }
}

void BloomTable::require_counting() {
  const Kind kind = filter_->shape().kind;
  if (kind != Kind::counting) {
    refuse("a table to delete from", "a counting one (no other kind can remove)",
           std::string("a ").append(name_of(kind)).append(" one"));
  }
}

void BloomTable::remove_key(const Value& value) {
  refuse_if_following("a DELETE from the table itself");
  require_counting();
  const Key key(value);
  if (!key.is_null()) {
    filter_->remove(key.hash(filter_->shape()));
  }
}

void BloomTable::replace_key(const Value& old_key, const Values& columns) {
  for (const Column column : {Column::filter, Column::info, Column::command}) {
    if (const Value value = column_of(columns, column); !value.is_unchanged()) {
      refuse("an UPDATE", "of key alone, and without FROM", "another column");
    }
  }
  refuse_if_following("an UPDATE of the table itself");
  const Key new_key(column_of(columns, Column::key));
  if (new_key.is_null()) {
    refuse_null_key();
  }
  require_counting();
  filter_->replace(Key(old_key).hash(filter_->shape()), new_key.hash(filter_->shape()));
}

void BloomTable::run_command(const Value& command) {
  const std::string text(command.type() == SQLITE_TEXT ? command.text() : std::string_view());
  const auto is = [&](const char* name) { return sqlite3_stricmp(text.c_str(), name) == 0; };
  if (is("clear")) {
    refuse_if_following("the command 'clear'");
    filter_->clear();
  } else if (is("rebuild")) {
    if (!follower_) {
      refuse("a table to rebuild", "one with a source (a Bloom filter cannot list its keys)",
             "one without");
    }
    follower_->rebuild(*filter_, options_);
  } else if (is("halve")) {
    require_one_layer();
    require_halvable(filter_->shape(), "the table");
    filter_->halve();
  } else if (is("integrity-check")) {
    check();
  } else {
    refuse("a command", kCommands, command.in_words());
  }
}

std::string BloomTable::info() {
  TableInfo table;
  if (const auto growth = options_.growth()) {
    table.growth_fpr = growth->fpr;
  }
  if (follower_) {
    table.source = follower_->source();
    table.columns = follower_->columns();
    table.stale = filter_->config().stale;
  }
  return info_json(filter_->layers().headers(), filter_->estimates(), table);
}

void BloomTable::Cursor::filter(int plan, const char* text, const Values& values) {
  filter_.begin_reading();
  plan_ = static_cast<Plan>(plan);
  switch (plan_) {
    case Plan::lookup_collated:
      if (filter_.shape().collation != table_.options_.collation()) {
        refuse("the collation of the source's column", name_of(filter_.shape().collation),
               name_of(table_.options_.collation()));
      }
      [[fallthrough]];
    case Plan::lookup:
      require_in_sync();
      require_filters(values, 1);
      return look_up(values[0]);
    case Plan::full_filter:
      require_in_sync();
      require_filters(values, 0);
      found_ = true;
      return;
    case Plan::refused_scan:
      refuse_scan();
    case Plan::refused_collation:
      refuse("the collation of a comparison with key", collation_rule(table_.options_.collation()),
             std::string_view(text).substr(kForeignCollation.size()));
  }
}

void BloomTable::Cursor::refuse_scan() const {
  refuse("the statement", kGivesKey, table_.follower_ ? kScan : kScanOfOwn);
}

void BloomTable::Cursor::require_in_sync() {
  if (table_.follower_) {
    table_.follower_->require_in_sync(filter_);
  }
}

// Nobody compares a filter with something else on purpose: the call f('x') does, which asks for a
// key in tables of other extensions.
void BloomTable::Cursor::require_filters(const Values& values, int first) {
  for (int i = first; i < values.size(); ++i) {
    if (!values[i].is_null() && (values[i].type() != SQLITE_BLOB ||
                                 std::holds_alternative<Problem>(open_filter(values[i].blob())))) {
      refuse("what the column filter is compared with",
             "a filter (a key is asked for by key = ?, not as an argument of the table)",
             values[i].in_words());
    }
  }
}

void BloomTable::Cursor::look_up(const Value& value) {
  // Not of the copy: bytes that were just written are slow to read.
  const Key key(value);
  if (key.is_text()) {
    key_.keep_text(key.bytes());
  } else {
    key_.keep(value);
  }
  found_ = !key.is_null() && filter_.may_contain(key.hash(filter_.shape()));
}

void BloomTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  Context context(raw);
  switch (static_cast<Column>(i)) {
    case Column::key:
      if (plan_ != Plan::lookup && plan_ != Plan::lookup_collated) {
        refuse_scan();
      }
      return key_.give(raw);
    case Column::filter:
      table_.require_one_layer();
      require_fits(context, "the filter", stored_bytes(filter_.shape()), kAskTable);
      return return_filter(context, filter_.full_filter());
    case Column::info:
      return context.text(table_.info());
    case Column::command:
      return;
  }
}

int add_table_module(sqlite3* db) { return sqlite::Module<BloomTable>::add(db); }

}  // namespace bloom
