#include "sql/table/table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/estimate.h"
#include "core/merge.h"
#include "sql/functions.h"
#include "sql/info.h"

namespace bloom {
namespace {

using sqlite::SqliteError;

constexpr std::string_view kAskTable = "ask the table itself, or halve it";
constexpr std::string_view kGivesKey =
    "one that gives the key, as key = ?, key IN (...) and JOIN ... ON key = other.column do (a "
    "Bloom "
    "filter cannot list its keys)";
constexpr std::string_view kCommands = "'clear', 'halve' or 'integrity-check'";

void require_name(const char* name) {
  for (const char* column : {"key", "filter", "info"}) {
    if (sqlite3_stricmp(name, column) == 0) {
      refuse("the name of the table", "other than those of its columns key, filter and info",
             sqlite::quoted_text(name));
    }
  }
}

Value column_of(const Values& columns, Column column) { return columns[static_cast<int>(column)]; }

std::string kind_in_words(const Shape& shape) {
  return "a " + std::string(name_of(shape.kind)) + " one";
}

}  // namespace

BloomTable::BloomTable(const sqlite::Definition& definition, Shared& tables)
    : db_(definition.db),
      tables_(tables),
      options_(definition.db, definition.arguments),
      store_(definition.db, definition.schema, definition.table),
      cache_(store_, options_.cache_bytes()) {
  require_name(definition.table);
  columns_ = "CREATE TABLE x(key PRIMARY KEY, filter BLOB HIDDEN, info TEXT HIDDEN, " +
             sqlite::quoted_name(definition.table) + " HIDDEN) WITHOUT ROWID";
  tables_.push_back(this);
}

BloomTable::~BloomTable() { tables_.erase(std::find(tables_.begin(), tables_.end(), this)); }

template <typename F>
void BloomTable::for_each_other(F&& f) {
  for (BloomTable* other : tables_) {
    if (other != this && other->store_.schema() == store_.schema() &&
        sqlite3_stricmp(other->name(), name()) == 0) {
      f(*other);
    }
  }
}

void BloomTable::create() {
  // One of this name that is still there was rolled back, without being told.
  for_each_other([](BloomTable& other) { other.forget(); });
  store_.create({.header = options_.header(), .merged = false});
  in_transaction_ = true;
}

void BloomTable::connect() {
  for_each_other([](BloomTable& other) { other.write_changes(); });
}

void BloomTable::destroy() {
  store_.drop();
  forget();
}

void BloomTable::rename(const char* name) {
  require_name(name);
  write_changes();
  store_.rename(name);
}

void BloomTable::begin() {
  notice_commits();
  in_transaction_ = true;
}

void BloomTable::committed() {
  in_transaction_ = false;
  version_ = store_.data_version();
}

void BloomTable::rolled_back() {
  in_transaction_ = false;
  forget();
}

void BloomTable::notice_commits() {
  if (!in_transaction_ && version_ != store_.data_version()) {
    forget();
    version_ = store_.data_version();
  }
}

void BloomTable::forget() {
  cache_.forget();
  filter_.reset();
}

void BloomTable::require_loaded() {
  if (!filter_) {
    config_ = store_.load_config();
    cache_.reset(shape());
    filter_.emplace(shape());
  }
}

void BloomTable::write_changes() {
  if (!cache_.has_changes()) {
    return;
  }
  if (store_.exists()) {
    cache_.flush();
  } else {
    forget();
  }
}

bool BloomTable::may_contain(const Value& value) {
  require_loaded();
  const Key key(value);
  return !key.is_null() && filter_->may_contain(key.hash(shape()), cache_);
}

void BloomTable::return_blob(Context& context) {
  require_loaded();
  require_fits(context, "the filter", stored_bytes(shape()), kAskTable);
  write_changes();
  Filter whole(config_.header);
  store_.for_each_chunk(shape(), [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    std::copy(cells.begin(), cells.end(), whole.cells() + i * kChunkBytes);
  });
  return_filter(context, std::move(whole));
}

std::string BloomTable::info() {
  require_loaded();
  write_changes();
  Estimator estimator(shape());
  store_.for_each_chunk(shape(), [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    const std::uint64_t first = i * chunk_cells(shape().kind);
    estimator.add(first, std::min(chunk_cells(shape().kind), shape().cells - first), cells.data());
  });
  return info_json(config_.header, estimator.finish());
}

void BloomTable::check() {
  notice_commits();
  require_loaded();
  write_changes();
  CounterTotals totals(shape());
  const bool totals_known = shape().kind == Kind::counting && !config_.merged;
  const std::uint64_t per_chunk = chunk_cells(shape().kind);
  store_.for_each_chunk(shape(), [&](std::uint64_t i, std::span<const std::uint8_t> cells) {
    const bool last = i + 1 == chunk_count(shape());
    if (last && has_stray_bits(shape(), cells.back())) {
      throw SqliteError(SQLITE_CORRUPT_VTAB, "bits after the last cell are set");
    }
    if (totals_known) {
      const std::uint64_t first = i * per_chunk;
      totals.add(first, std::min(per_chunk, shape().cells - first), cells.data());
    }
  });
  if (const auto wrong = totals.finish(); totals_known && wrong) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the counters of block " + std::to_string(*wrong) +
                                               " do not add up to a number of keys");
  }
}

int BloomTable::update(const Values& values) {
  require_loaded();
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
  const Value key = column_of(columns, Column::key);
  const Value filter = column_of(columns, Column::filter);
  const Value info = column_of(columns, Column::info);
  const Value command = column_of(columns, Column::command);
  const int given = (key.is_null() ? 0 : 1) + (filter.is_null() ? 0 : 1) +
                    (info.is_null() ? 0 : 1) + (command.is_null() ? 0 : 1);
  if (given > 1 || !info.is_null()) {
    refuse("a row", "a key, a filter or a command",
           info.is_null() ? "more than one" : "info, which is read only");
  }
  if (!command.is_null()) {
    run_command(command);
    return SQLITE_OK;
  }
  if (!filter.is_null()) {
    merge(filter);
    return SQLITE_OK;
  }
  return add_key(key);
}

int BloomTable::add_key(const Value& value) {
  const bool skip = sqlite3_vtab_on_conflict(db_) == SQLITE_IGNORE;
  const Key key(value);
  if (key.is_null()) {
    if (skip) {
      return SQLITE_CONSTRAINT;
    }
    throw SqliteError(SQLITE_CONSTRAINT_NOTNULL,
                      refusal("key", "a value other than NULL, which is never a key", "NULL"));
  }
  const Hash hash = key.hash(shape());
  if (skip && shape().kind == Kind::counting && filter_->may_contain(hash, cache_)) {
    return SQLITE_CONSTRAINT;
  }
  return filter_->add(hash, cache_) || !skip ? SQLITE_OK : SQLITE_CONSTRAINT;
}

void BloomTable::remove_key(const Value& value) {
  if (shape().kind != Kind::counting) {
    refuse("a table to delete from", "a counting one (no other kind can remove)",
           kind_in_words(shape()));
  }
  const Key key(value);
  if (!key.is_null()) {
    filter_->remove(key.hash(shape()), cache_);
  }
}

void BloomTable::replace_key(const Value& old_key, const Values& columns) {
  for (const Column column : {Column::filter, Column::info, Column::command}) {
    const Value value = column_of(columns, column);
    if (!value.is_unchanged() && !value.is_null()) {
      refuse("an UPDATE", "of key", "another column");
    }
  }
  const Value new_key = column_of(columns, Column::key);
  if (new_key.is_null()) {
    throw SqliteError(SQLITE_CONSTRAINT_NOTNULL,
                      refusal("key", "a value other than NULL, which is never a key", "NULL"));
  }
  remove_key(old_key);
  filter_->add(Key(new_key).hash(shape()), cache_);
}

void BloomTable::merge(const Value& value) {
  const Filter given =
      resized(filter_argument(value, "filter"), shape(), "filter", "the table has");
  check();
  for (std::uint64_t i = 0; i < chunk_count(shape()); ++i) {
    const std::size_t size = chunk_bytes(shape(), i);
    const std::uint8_t* from = given.view().cells() + i * kChunkBytes;
    if (std::any_of(from, from + size, [](std::uint8_t byte) { return byte != 0; })) {
      unite_cells(shape().kind, cache_.at(i), from, size);
      cache_.changed(i);
    }
  }
  if (shape().kind == Kind::counting && !config_.merged) {
    config_.merged = true;
    store_.save_config(config_);
  }
}

void BloomTable::run_command(const Value& command) {
  const std::string_view name = command.type() == SQLITE_TEXT ? command.text() : std::string_view();
  if (name == "clear") {
    clear();
  } else if (name == "halve") {
    halve();
  } else if (name == "integrity-check") {
    check();
  } else {
    refuse("a command", kCommands, command.in_words());
  }
}

void BloomTable::clear() {
  store_.delete_chunks_from(0);
  cache_.forget();
  if (config_.merged) {
    config_.merged = false;
    store_.save_config(config_);
  }
}

void BloomTable::halve() {
  require_halvable(shape(), "the table");
  check();
  cache_.forget();
  const Header half = halved(config_.header);
  std::array<std::uint8_t, kChunkBytes> source{};
  std::array<std::uint8_t, kChunkBytes> folded{};
  std::optional<std::uint64_t> at_hand;
  bool stored = false;
  const auto read = [&](std::uint64_t i) {
    if (at_hand != i) {
      at_hand.reset();
      stored = store_.load_chunk(i, std::span(source).first(chunk_bytes(shape(), i)));
      at_hand = i;
    }
    return stored ? source.data() : nullptr;
  };
  for (std::uint64_t i = 0; i < chunk_count(half.shape); ++i) {
    folded.fill(0);
    const bool any = fold_chunk(shape(), i, read, folded.data());
    const bool had_row = read(i) != nullptr;
    if (any) {
      store_.save_chunk(i, std::span(folded).first(chunk_bytes(half.shape, i)), had_row);
    } else if (had_row) {
      store_.delete_chunk(i);
    }
    at_hand.reset();
  }
  store_.delete_chunks_from(chunk_count(half.shape));
  store_.save_config({.header = half, .merged = config_.merged});
  forget();
}

void BloomTable::Cursor::filter(int plan, const char* text, const Values& values) {
  plan_ = static_cast<Plan>(plan);
  switch (plan_) {
    case Plan::ask:
      key_.keep(values[0]);
      found_ = table_.may_contain(values[0]);
      return;
    case Plan::whole:
      found_ = true;
      return;
    case Plan::refused_scan:
      refuse("the statement", kGivesKey, "a scan");
    case Plan::refused_collation:
      refuse("the collation of a comparison with key",
             "BINARY, the filter's own (write COLLATE BINARY behind the other side)",
             std::string_view(text).substr(kForeignCollation.size()));
  }
}

void BloomTable::Cursor::column(sqlite3_context* raw, int i) {
  if (sqlite3_vtab_nochange(raw) != 0) {
    return;
  }
  Context context(raw);
  switch (static_cast<Column>(i)) {
    case Column::key:
      if (plan_ != Plan::ask) {
        refuse("the statement", kGivesKey, "a scan");
      }
      return key_.give(raw);
    case Column::filter:
      return table_.return_blob(context);
    case Column::info:
      return context.text(table_.info());
    case Column::command:
      return;
  }
}

int add_table_module(sqlite3* db) { return sqlite::Module<BloomTable>::add(db); }

}  // namespace bloom
