#include "sql/sqlite/statement.h"

#include <algorithm>
#include <new>
#include <utility>

#include "sql/sqlite/guard.h"
#include "sql/sqlite/sql_text.h"

namespace bloom::sqlite {

// A violated constraint is no conflict of the user's row: OR IGNORE would hide it, and leave the
// work half done.
void execute(sqlite3* db, const std::string& sql) {
  const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  if ((code & 0xff) == SQLITE_CONSTRAINT) {
    throw SqliteError(SQLITE_ERROR, sqlite3_errmsg(db));
  }
  require_ok(db, code);
}

Statement::Statement(sqlite3* db, const std::string& sql, FindDamage find_damage)
    : db_(db), find_damage_(std::move(find_damage)) {
  // NO_VTAB: someone may have replaced a shadow table by a view of the virtual table. This
  // statement would then keep the virtual table in use, which in turn owns the statement, and
  // neither would ever be freed.
  constexpr unsigned kFlags = SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB;
  sqlite3_stmt* prepared = nullptr;
  require_ok(sqlite3_prepare_v3(db, sql.c_str(), static_cast<int>(sql.size()) + 1, kFlags,
                                &prepared, nullptr));
  statement_.reset(prepared);
  if (sql.starts_with("PRAGMA ") && sqlite3_column_count(prepared) == 0) {
    throw SqliteError(SQLITE_AUTH, "an authorizer hides " + sql +
                                       " (it must not answer SQLITE_IGNORE for pragmas)");
  }
  if (const std::string name = find_damage_ ? find_damage_() : ""; !name.empty()) {
    throw SqliteError(SQLITE_CORRUPT_VTAB, "the table " + name + " is missing or has changed");
  }
}

void Statement::require_ok(int code) const {
  const bool may_be_schema = code == SQLITE_ERROR || (code & 0xff) == SQLITE_CONSTRAINT;
  if (may_be_schema) {
    const std::string text = sqlite3_errmsg(db_);  // find_damage_() may change it
    const bool is_damaged = find_damage_ && !find_damage_().empty();
    throw SqliteError(is_damaged ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR, text);
  }
  sqlite::require_ok(db_, code);
}

Execution::~Execution() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Execution& Execution::bind(int parameter, std::int64_t value) {
  prepared_.require_ok(sqlite3_bind_int64(statement_, parameter, value));
  return *this;
}

Execution& Execution::bind(int parameter, double value) {
  prepared_.require_ok(sqlite3_bind_double(statement_, parameter, value));
  return *this;
}

Execution& Execution::bind(int parameter, std::string_view text) {
  prepared_.require_ok(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(),
                                           SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Execution& Execution::bind(int parameter, std::span<const std::uint8_t> bytes) {
  prepared_.require_ok(
      sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

Execution& Execution::bind(int parameter, const Value& value) {
  prepared_.require_ok(value.bind_to(statement_, parameter));
  return *this;
}

Execution& Execution::bind_pointer(int parameter, void* pointer, const char* type) {
  prepared_.require_ok(sqlite3_bind_pointer(statement_, parameter, pointer, type, nullptr));
  return *this;
}

bool Execution::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    prepared_.require_ok(code);
  }
  return code == SQLITE_ROW;
}

std::uint64_t Execution::count_rows() {
  std::uint64_t rows = 0;
  while (step()) {
    ++rows;
  }
  return rows;
}

std::span<const std::uint8_t> Execution::blob(int column) const {
  const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (bytes == nullptr && size != 0) {
    throw std::bad_alloc();
  }
  return {bytes, size};
}

// For a view, SQLite has no column metadata.
bool has_columns(sqlite3* db, const std::string& schema, const std::string& table,
                 std::initializer_list<const char*> columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const char* column) {
    return sqlite3_table_column_metadata(db, schema.c_str(), table.c_str(), column, nullptr,
                                         nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
  });
}

std::vector<std::string> tables_named(sqlite3* db, const std::string& schema,
                                      const std::string& prefix) {
  const Statement select(db, "SELECT name FROM " + quoted_name(schema) +
                                 ".sqlite_master WHERE type = 'table' AND rootpage <> 0");
  std::vector<std::string> names;
  Execution run(select);
  while (run.step()) {
    const std::string name(run.value(0).text());
    if (sqlite3_strnicmp(name.c_str(), prefix.c_str(), static_cast<int>(prefix.size())) == 0) {
      names.push_back(name);
    }
  }
  return names;
}

bool has_object(sqlite3* db, std::string_view schema, std::string_view name, Named what) {
  const std::string type = what == Named::trigger ? "type = 'trigger'" : "type <> 'trigger'";
  const Statement select(db, "SELECT 1 FROM " + quoted_name(schema) + ".sqlite_master WHERE " +
                                 type + " AND name = ?1 COLLATE NOCASE");
  return Execution(select).bind(1, name).step();
}

std::string stored_sql(sqlite3* db, std::string_view schema, std::string_view type,
                       std::string_view name) {
  const Statement select(db, "SELECT sql FROM " + quoted_name(schema) +
                                 ".sqlite_master WHERE type = ?1 AND name = ?2 COLLATE NOCASE");
  Execution run(select);
  const bool exists = run.bind(1, type).bind(2, name).step() && run.type(0) == SQLITE_TEXT;
  return exists ? std::string(run.value(0).text()) : "";
}

}  // namespace bloom::sqlite
