#include "sql/sqlite/statement.h"

#include <new>

#include "sql/sqlite/guard.h"

namespace bloom::sqlite {
namespace {

void require_ok(sqlite3* db, int code) {
  if (code != SQLITE_OK) {
    throw SqliteError(code, sqlite3_errmsg(db));
  }
}

}  // namespace

// SQLite reports an interrupt only to running statements, so this runs a short one.
// (sqlite3_is_interrupted() requires SQLite 3.41.)
void Interrupts::check_now(void* self) {
  constexpr auto kEvery = std::chrono::milliseconds(20);
  auto& [db, next] = *static_cast<Interrupts*>(self);
  const auto now = Clock::now();
  if (now < next) {
    return;
  }
  next = now + kEvery;
  if (sqlite3_exec(db, "SELECT 1", nullptr, nullptr, nullptr) == SQLITE_INTERRUPT) {
    throw SqliteError(SQLITE_INTERRUPT, "interrupted");
  }
}

void execute(sqlite3* db, const std::string& sql) {
  require_ok(db, sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr));
}

Statement::Statement(sqlite3* db, const std::string& sql, int unexpected)
    : db_(db), unexpected_(unexpected) {
  // NO_VTAB: someone may have replaced a shadow table by a view of the virtual table. This
  // statement would then keep the virtual table in use, which in turn owns the statement, and
  // neither would ever be freed.
  constexpr unsigned kFlags = SQLITE_PREPARE_PERSISTENT | SQLITE_PREPARE_NO_VTAB;
  require(sqlite3_prepare_v3(db, sql.c_str(), static_cast<int>(sql.size()) + 1, kFlags, &statement_,
                             nullptr));
}

void Statement::require(int code) const {
  const bool of_schema = code == SQLITE_ERROR || (code & 0xff) == SQLITE_CONSTRAINT;
  require_ok(db_, of_schema ? unexpected_ : code);
}

Run::~Run() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Run& Run::bind(int parameter, std::int64_t value) {
  origin_.require(sqlite3_bind_int64(statement_, parameter, value));
  return *this;
}

Run& Run::bind(int parameter, std::string_view text) {
  origin_.require(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(),
                                      SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Run& Run::bind(int parameter, std::span<const std::uint8_t> bytes) {
  origin_.require(
      sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Run::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    origin_.require(code);
  }
  return code == SQLITE_ROW;
}

std::span<const std::uint8_t> Run::blob(int column) const {
  const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  if (bytes == nullptr && size != 0) {
    throw std::bad_alloc();
  }
  return {bytes, size};
}

OwnedValue Run::copy(int column) const {
  OwnedValue copy(sqlite3_value_dup(sqlite3_column_value(statement_, column)));
  if (!copy) {
    throw std::bad_alloc();
  }
  return copy;
}

}  // namespace bloom::sqlite
