#include "sql/vtab/shadow_tables.h"

#include <algorithm>

#include "core/support/error.h"
#include "sql/sqlite/atomically.h"
#include "sql/sqlite/sql_text.h"
#include "sql/vtab/damage.h"

namespace bloom {

using sqlite::quoted_name;
using sqlite::Statement;

void require_name_is_free(sqlite3* db, const std::string& schema, const std::string& name,
                          sqlite::Named what) {
  if (sqlite::has_object(db, schema, name, what)) {
    fail("there is already another object named " + sqlite::quoted_text(name) +
         " (rename or drop that, or choose another name)");
  }
}

bool ShadowTables::contains(std::span<const ShadowTable> all, std::string_view suffix) {
  return std::any_of(all.begin(), all.end(),
                     [&](const ShadowTable& table) { return table.suffix == suffix; });
}

std::string ShadowTables::name(std::string_view suffix) const {
  return std::string(table_).append("_").append(suffix);
}

std::string ShadowTables::qualified(std::string_view suffix) const {
  return quoted_name(schema_) + "." + quoted_name(name(suffix));
}

std::string ShadowTables::with_names(std::string_view sql) const {
  std::string result;
  for (std::size_t brace = 0; (brace = sql.find('{')) != std::string_view::npos;) {
    const std::size_t end = sql.find('}', brace);
    const std::string_view suffix = sql.substr(brace + 1, end - brace - 1);
    result.append(sql.substr(0, brace));
    result.append(qualified(suffix));
    sql.remove_prefix(end + 1);
  }
  return result.append(sql);
}

const Statement& ShadowTables::prepared(const char* sql) {
  for (const Prepared& each : prepared_) {
    if (each.sql == sql) {
      return each.statement;
    }
  }
  return prepared_.emplace_back(sql, *this).statement;
}

Statement ShadowTables::statement(std::string_view sql) const {
  return {db_, with_names(sql), [this] { return find_damage(); }};
}

// Objects of one table may share the ShadowTables. The name is right when SQLite connects one.
void ShadowTables::note_connected() {
  row_in_schema_.reset();
  if (watches_name_ || sqlite3_get_autocommit(db_) == 0) {
    remember_row();
  }
}

void ShadowTables::watch_name() {
  remember_row();
  watches_name_ = true;
}

// If an authorizer hides the schema, the table works without this check.
void ShadowTables::remember_row() {
  constexpr std::int64_t kNone = -1;
  if (!row_in_schema_) {
    const auto outcome = sqlite::Outcome::of([&] {
      const std::int64_t row = row_in_schema();
      row_in_schema_ = row == 0 ? kNone : row;
    });
    if (outcome.code() != SQLITE_AUTH) {
      outcome.throw_failure();
    }
  }
}

std::int64_t ShadowTables::row_in_schema() const {
  const Statement select(db_,
                         "SELECT rowid FROM " + quoted_name(schema_) +
                             ".sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE");
  const std::string first = name(all_.front().suffix);
  sqlite::Execution run(select);
  return run.bind(1, first).step() ? run.integer(0) : 0;
}

// Called for each lookup until a transaction ends, so it reads one row, by a statement that is
// kept.
bool ShadowTables::name_still_means(std::int64_t schema_rowid) {
  if (!select_name_) {
    select_name_.emplace(db_, "SELECT 1 FROM " + quoted_name(schema_) +
                                  ".sqlite_master WHERE rowid = ?1 AND type = 'table' AND name = "
                                  "?2 COLLATE NOCASE");
  }
  const std::string first = name(all_.front().suffix);
  sqlite::Execution run(*select_name_);
  return run.bind(1, schema_rowid).bind(2, first).step();
}

void ShadowTables::check_same_table() {
  if (!name_still_means(*row_in_schema_)) {
    refuse_renamed();
  }
  if (!watches_name_ && sqlite3_get_autocommit(db_) != 0) {
    row_in_schema_.reset();
  }
}

std::string ShadowTables::find_damage() const {
  const auto damaged = std::find_if_not(all_.begin(), all_.end(), [&](const ShadowTable& table) {
    return table.presence == ShadowTable::kMayBeMissing || exists(table);
  });
  return damaged == all_.end() ? "" : name(damaged->suffix);
}

void ShadowTables::run(std::string_view sql) const {
  const Statement once = statement(sql);
  sqlite::Execution(once).step();
}

std::string ShadowTables::text_in_config(std::string_view key) const {
  if (!sqlite::has_columns(db_, schema_, name("config"), {"k", "v"})) {
    return "";
  }
  const Statement select(db_, "SELECT v FROM " + qualified("config") + " WHERE k = ?1");
  sqlite::Execution run(select);
  const bool is_text = run.bind(1, key).step() && run.type(0) == SQLITE_TEXT;
  return is_text ? std::string(run.value(0).text()) : "";
}

void ShadowTables::set_text_in_config(std::string_view key, std::string_view text) const {
  const Statement replace = statement("REPLACE INTO {config}(k, v) VALUES (?1, ?2)");
  sqlite::Execution(replace).bind(1, key).bind(2, text).step();
}

void ShadowTables::create() const {
  for (const ShadowTable& table : all_) {
    create(table);
  }
}

void ShadowTables::create(const ShadowTable& table) const {
  sqlite::execute(db_, "CREATE TABLE " + qualified(table.suffix) + std::string(table.definition));
}

bool ShadowTables::exists(const ShadowTable& table) const {
  return sqlite::has_columns(db_, schema_, name(table.suffix),
                             {table.first_column, table.last_column});
}

void ShadowTables::drop() {
  prepared_.clear();
  for (const ShadowTable& table : all_) {
    if (table.presence == ShadowTable::kAlways || exists(table)) {
      sqlite::execute(db_, "DROP TABLE IF EXISTS " + qualified(table.suffix));
    }
  }
}

void ShadowTables::require_names_are_free(const std::string& table) const {
  for (const ShadowTable& each : all_) {
    require_name_is_free(db_, schema_, std::string(table).append("_").append(each.suffix));
  }
}

void ShadowTables::rename(const std::string& table) {
  prepared_.clear();
  for (const ShadowTable& each : all_) {
    if (each.presence == ShadowTable::kMayBeMissing && !exists(each)) {
      continue;
    }
    sqlite::execute(db_, "ALTER TABLE " + qualified(each.suffix) + " RENAME TO " +
                             quoted_name(std::string(table).append("_").append(each.suffix)));
  }
  table_ = table;
}

void ShadowTables::atomically(const std::function<void()>& body) const {
  sqlite::atomically(db_, qualified("config"), body);
}

void RowReader::require_ok(int code) const {
  if (code != SQLITE_OK) {
    // SQLITE_ERROR means that the row is missing, or that the table is not as it was created.
    throw sqlite::SqliteError(code == SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : code,
                              sqlite3_errmsg(tables_.db()));
  }
}

std::size_t RowReader::open(std::int64_t id) {
  require_ok(blob_ != nullptr
                 ? sqlite3_blob_reopen(blob_, id)
                 : sqlite3_blob_open(tables_.db(), tables_.schema().c_str(), name_.c_str(), column_,
                                     id, writable_ ? 1 : 0, &blob_));
  return static_cast<std::size_t>(sqlite3_blob_bytes(blob_));
}

void RowReader::read(std::size_t offset, std::span<std::uint8_t> bytes) {
  require_ok(sqlite3_blob_read(blob_, bytes.data(), static_cast<int>(bytes.size()),
                               static_cast<int>(offset)));
}

void RowWriter::write(std::size_t offset, std::span<const std::uint8_t> bytes) {
  require_ok(sqlite3_blob_write(blob(), bytes.data(), static_cast<int>(bytes.size()),
                                static_cast<int>(offset)));
}

}  // namespace bloom
