#include "sql/table/shadow_tables.h"

#include <algorithm>

#include "sql/sqlite/sql_text.h"
#include "sql/table/damage.h"

namespace bloom {

using sqlite::quoted_name;
using sqlite::Statement;

bool ShadowTables::contains(std::span<const std::string_view> suffixes, std::string_view suffix) {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

std::string ShadowTables::name(std::string_view suffix) const {
  return std::string(table_).append("_").append(suffix);
}

std::string ShadowTables::with_names(std::string_view sql) const {
  std::string result;
  for (std::size_t brace = 0; (brace = sql.find('{')) != std::string_view::npos;) {
    const std::size_t end = sql.find('}', brace);
    const std::string_view suffix = sql.substr(brace + 1, end - brace - 1);
    result.append(sql.substr(0, brace));
    result.append(quoted_name(schema_)).append(".").append(quoted_name(name(suffix)));
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
  return {db_, with_names(sql), kSchemaDamaged};
}

void ShadowTables::run(std::string_view sql) const {
  const Statement once = statement(sql);
  sqlite::Execution(once).step();
}

void ShadowTables::create(std::string_view definition) const {
  sqlite::execute(db_, "CREATE TABLE " + with_names(definition));
}

void ShadowTables::drop() {
  prepared_.clear();
  for (const std::string_view suffix : suffixes_) {
    sqlite::execute(
        db_, "DROP TABLE IF EXISTS " + quoted_name(schema_) + "." + quoted_name(name(suffix)));
  }
}

void ShadowTables::rename(const std::string& table) {
  prepared_.clear();
  for (const std::string_view suffix : suffixes_) {
    sqlite::execute(db_, "ALTER TABLE " + quoted_name(schema_) + "." + quoted_name(name(suffix)) +
                             " RENAME TO " +
                             quoted_name(std::string(table).append("_").append(suffix)));
  }
  table_ = table;
}

void RowReader::require_ok(int code) const {
  if (code != SQLITE_OK) {
    // SQLITE_ERROR means that the row is missing, or that the table is not as it was created.
    throw sqlite::SqliteError(code == SQLITE_ERROR ? kSchemaDamaged : code,
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
