#include "sql/bloom_table/bloom_table.h"

#include <algorithm>
#include <string_view>

#include "core/operations/merge.h"
#include "core/support/ascii.h"
#include "core/support/error.h"
#include "sql/bloom_table/bloom_module.h"
#include "sql/sqlite/interrupts.h"
#include "sql/sqlite/sql_text.h"
#include "sql/values/arguments.h"
#include "sql/values/hidden_type.h"
#include "sql/values/info_json.h"
#include "sql/values/key.h"
#include "sql/vtab/incoming_filter.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

void require_name(const char* name) {
  for (const char* column : {"key", "filter", "info"}) {
    if (sqlite3_stricmp(name, column) == 0) {
      fail("a table cannot be called " + sqlite::quoted_text(name) +
           ": it has a column of this name (choose another name)");
    }
  }
}

[[noreturn]] void refuse_null_key() {
  throw SqliteError(SQLITE_CONSTRAINT_NOTNULL, "key must not be NULL (NULL is never a key)");
}

Value column_of(const Values& columns, BloomColumn column) {
  return columns[static_cast<int>(column)];
}

}  // namespace

BloomTable::BloomTable(const sqlite::Definition& definition, FilterRegistry& filters)
    : db_(definition.db),
      filters_(filters),
      schema_(definition.schema),
      name_when_opened_(definition.table),
      options_(definition.db, definition.arguments),
      list_collations_(definition.db, definition.vtab),
      encoding_(definition.db) {
  require_name(name_when_opened_.c_str());
  if (const auto names = options_.source()) {
    follower_.emplace(db_, schema_, name_when_opened_, *names, options_.kind());
    options_.set_default_collation(follower_->collation());
  }
  columns_ = declared_columns();
}

// Also sets command_column_ and parts_.
std::string BloomTable::declared_columns() {
  const bool is_composite = follower_ && follower_->is_composite();
  const std::string type =
      follower_ && !is_composite ? follower_->comparison().declared_type() : "";
  const auto hidden = Cursor::hidden_columns();
  std::string columns = "CREATE TABLE x(key " + type + " COLLATE " +
                        std::string(name_of(options_.collation())) + " PRIMARY KEY" +
                        declare(hidden);
  if (const auto* const same_name = find_column(hidden, name_when_opened_)) {
    command_column_ = static_cast<int>(same_name->column);
  }
  if (is_command(static_cast<int>(BloomColumn::command))) {
    columns.append(", ").append(sqlite::quoted_name(name_when_opened_)).append(" HIDDEN");
  }
  const auto last = static_cast<int>(BloomColumn::command);
  parts_.first = last + (is_command(last) ? 1 : 0);
  if (is_composite) {
    columns.append(declared_parts());
  }
  return columns + ") WITHOUT ROWID";
}

// Returns nothing if a column has the name of another one: a lookup then gives key =
// bloom_key(...).
std::string BloomTable::declared_parts() {
  const std::vector<std::string>& names = follower_->columns();
  std::vector<std::string> taken = {"key", name_when_opened_};
  for (const auto& column : Cursor::hidden_columns()) {
    taken.emplace_back(column.name);
  }
  parts_.collations = follower_->part_collations();
  std::string columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::any_of(taken.begin(), taken.end(), [&](const std::string& other) {
          return sqlite3_stricmp(other.c_str(), names[i].c_str()) == 0;
        })) {
      return "";
    }
    taken.push_back(names[i]);
    columns.append(", ").append(sqlite::quoted_name(names[i])).append(" ");
    columns.append(hidden_type(follower_->comparison(i).declared_type(), parts_.collations[i]));
  }
  parts_.names = names;
  return columns;
}

void BloomTable::create() {
  filter_ = filters_.create(filter_arguments());
  follower_ ? follower_->create(*filter_, options_)
            : filter_->create({.layers = options_.layers()});
}

void BloomTable::connect() {
  filter_ = filters_.open(filter_arguments());
  filter_->note_connected();
}

FilterRegistry::Arguments BloomTable::filter_arguments() const {
  return {db_, schema_, name_when_opened_, options_.cache_bytes(), options_.growth()};
}

void BloomTable::destroy() { follower_ ? follower_->drop(*filter_) : filter_->drop(); }

void BloomTable::rename(const char* name) {
  require_name(name);
  filter_->begin_statement();
  filter_->require_names_are_free(name);
  follower_ ? follower_->rename(*filter_, name) : filter_->rename(name);
  filters_.retire_others(*filter_);
}

int BloomTable::best_index(sqlite3_index_info& info) {
  filter_->statement_was_prepared();
  list_collations_.statement_was_prepared();
  if (follower_) {
    follower_->schema_may_have_changed();
  }
  return choose_plan(info, options_.collation(), parts_);
}

void BloomTable::check_integrity() {
  filter_->begin_statement();
  filter_->check_integrity();
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
  const Value key = column_of(columns, BloomColumn::key);
  const Value filter = column_of(columns, BloomColumn::filter);
  const Value command = columns[command_column_];
  const bool only_key = filter.is_null() && command.is_null();
  // Not checked beside a key: that would make adding keys 10 % slower.
  if (!only_key || key.is_null()) {
    refuse_properties(columns, !command.is_null());
  }
  if (only_key) {
    refuse_if_following("INSERT into");
    return insert_key(key);
  }
  insert_filter_or_command(key, filter, command, column_of(columns, BloomColumn::fpr));
  return SQLITE_OK;
}

// The command 'fold' takes its value from the column fpr.
void BloomTable::refuse_properties(const Values& columns, bool takes_fpr) const {
  for (const auto& property : Cursor::hidden_columns()) {
    const auto i = static_cast<int>(property.column);
    const bool is_writable = property.column == BloomColumn::filter || is_command(i) ||
                             (takes_fpr && property.column == BloomColumn::fpr);
    if (!is_writable && !columns[i].is_null()) {
      fail("the column " + std::string(property.name) +
           " is read-only (INSERT a key, a filter or a command)");
    }
  }
}

void BloomTable::insert_filter_or_command(const Value& key, const Value& filter,
                                          const Value& command, const Value& fpr) {
  if (follower_ && command.type() == SQLITE_TEXT &&
      SourceFollower::is_trigger_command(command.text()) && !filter_->config().has_change_log()) {
    return follower_->run_trigger_command(*filter_, command.text(), key);
  }
  if (!key.is_null() || (!filter.is_null() && !command.is_null())) {
    fail("one row cannot have more than one of key, filter and command (INSERT several rows)");
  }
  if (!command.is_null()) {
    return run_command(command, fpr);
  }
  refuse_if_following("INSERT into");
  if (options_.growth()) {
    fail("cannot merge a filter into a table that grows (make the table with a capacity)");
  }
  sqlite::Interrupts interrupts(db_);
  const InterruptCheck check_interrupt = interrupts.check();
  const FilterView added = filter_argument(filter, "filter", check_interrupt);
  if (is_neutral(added, check_interrupt)) {
    return;
  }
  filter_->run_atomically([&] {
    const Filter fitting =
        fit_incoming_filter(added, filter_->layers().newest().header, "the table", check_interrupt);
    filter_->merge_filter(fitting.view(), check_interrupt);
  });
}

int BloomTable::insert_key(const Value& value) {
  const bool skip = sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE;
  const Key key(value);
  refuse_filter_or_handle(key, value);
  if (key.is_null()) {
    if (!skip) {
      refuse_null_key();
    }
    return SQLITE_CONSTRAINT;
  }
  const Hash hash = key.hash(filter_->shape());
  if (!skip) {
    filter_->add_batched(hash);
    return SQLITE_OK;
  }
  // In these tables add() adds a key that is present already. A counting filter must count it: it
  // may only seem to be present because of other keys, which can be removed.
  const bool is_counting = filter_->shape().kind == Kind::counting;
  const bool repeats = is_counting || filter_->has_generations();
  const bool is_new = repeats ? !filter_->may_contain(hash) : filter_->add(hash);
  if (is_counting || (is_new && repeats)) {
    filter_->add(hash, /*counts_in_changes=*/is_new);
  }
  return is_new ? SQLITE_OK : SQLITE_CONSTRAINT;
}

void BloomTable::refuse_following(std::string_view change) const {
  const std::string source = sqlite::quoted_text(follower_->source());
  fail("cannot " + std::string(change) + " a table that follows " + source + " (change " + source +
       " instead)");
}

void BloomTable::require_one_layer(std::string_view action) {
  const std::size_t layers = filter_->layers().size();
  if (filter_->has_generations()) {
    fail("cannot " + std::string(action) + " a table with generations (it consists of " +
         std::to_string(layers) + " filters, one for each generation)");
  }
  if (layers != 1) {
    fail("cannot " + std::string(action) + " a table that has grown to " + std::to_string(layers) +
         " layers (a table with a source has one layer after 'rebuild'; a table made with a "
         "capacity and growth=off always has one)");
  }
}

void BloomTable::require_counting() {
  const Kind kind = filter_->shape().kind;
  if (filter_->has_generations()) {
    fail("cannot remove a key from a table with generations ('rotate' drops the oldest keys)");
  }
  if (kind != Kind::counting) {
    fail("cannot remove a key from a " + std::string(name_of(kind)) +
         " filter (make the table with kind=counting)");
  }
}

void BloomTable::remove_key(const Value& value) {
  refuse_if_following("DELETE from");
  require_counting();
  const Key key(value);
  if (!key.is_null()) {
    filter_->remove(key.hash(filter_->shape()));
  }
}

void BloomTable::replace_key(const Value& old_key, const Values& columns) {
  for (int i = static_cast<int>(BloomColumn::filter); i < columns.size(); ++i) {
    if (!columns[i].is_unchanged()) {
      fail("an UPDATE can change the column key alone, and without FROM");
    }
  }
  refuse_if_following("UPDATE");
  const Value new_value = column_of(columns, BloomColumn::key);
  const Key new_key(new_value);
  refuse_filter_or_handle(new_key, new_value);
  if (new_key.is_null()) {
    refuse_null_key();
  }
  require_counting();
  filter_->replace(Key(old_key).hash(filter_->shape()), new_key.hash(filter_->shape()));
}

constexpr Command<BloomTable> BloomTable::kCommands[] = {
    {"rebuild", nullptr, [](BloomTable& t, const Value&) { t.rebuild(); }},
    {"merge", nullptr, [](BloomTable& t, const Value&) { t.merge(); }},
    {"clear", nullptr, [](BloomTable& t, const Value&) { t.clear(); }},
    {"rotate", nullptr, [](BloomTable& t, const Value&) { t.rotate(); }},
    {"halve", nullptr, [](BloomTable& t, const Value&) { t.halve(); }},
    {"fold", "fpr",
     [](BloomTable& t, const Value& fpr) {
       t.fold(fpr_argument(fpr, "fpr, the argument of 'fold',"));
     }},
    {"integrity-check", nullptr, [](BloomTable& t, const Value&) { t.check_integrity(); }},
};

// A command first does what may change its requirements (pending changes can add layers), then
// checks them, then works. So each step finds what the one before has left.
void BloomTable::run_command(const Value& command, const Value& fpr) {
  const auto& found = find_command<BloomTable>(kCommands, command);
  if (found.argument == nullptr && !fpr.is_null() &&
      !is_command(static_cast<int>(BloomColumn::fpr))) {
    fail("the column fpr is the argument of the command 'fold', got the command " +
         command.describe());
  }
  filter_->run_atomically([&] { found.run(*this, fpr); });
}

void BloomTable::rebuild() {
  if (!follower_) {
    fail("cannot rebuild a table without a source: a Bloom filter cannot list its keys");
  }
  follower_->rebuild(*filter_, options_);
}

void BloomTable::merge() {
  if (!follower_) {
    fail("cannot merge changes into a table without a source: it has no pending changes");
  }
  follower_->merge(*filter_);
}

void BloomTable::clear() {
  refuse_if_following("clear");
  filter_->clear();
}

void BloomTable::halve() {
  require_one_layer("halve");
  require_halvable(filter_->shape(), "the table");
  filter_->halve();
}

void BloomTable::rotate() {
  if (!filter_->has_generations()) {
    fail("cannot rotate a table without generations (make the table with generations=4)");
  }
  filter_->rotate();
}

void BloomTable::fold(double fpr) {
  if (follower_) {
    follower_->merge(*filter_);
  }
  require_one_layer("fold");
  filter_->fold(fpr);
}

std::string BloomTable::info(const std::vector<Estimate>& estimates) {
  TableInfo table;
  if (options_.growth() || filter_->has_generations()) {
    table.layers_name = filter_->has_generations() ? "generations" : "layers";
    table.total_fpr = options_.fpr();
  }
  if (follower_) {
    table.source = follower_->source();
    table.columns = follower_->columns();
    table.pending = filter_->change_log_size();
    table.pending_fpr = filter_->change_log_fpr();
  }
  return info_json(filter_->layers().headers(), estimates, table);
}

void add_bloom_module(sqlite3* db) { sqlite::Module<BloomTable>::add(db); }

}  // namespace bloom
