// The context of an SQL function call: sets the result, and reads the limits of the connection.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/sqlite/api.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/statement.h"

namespace bloom::sqlite {

class Context {
 public:
  explicit Context(sqlite3_context* context) : context_(context) {}

  void null() { sqlite3_result_null(context_); }
  void integer(std::int64_t value) { sqlite3_result_int64(context_, value); }
  void boolean(bool value) { sqlite3_result_int(context_, value ? 1 : 0); }
  void real(double value) { sqlite3_result_double(context_, value); }
  void text(std::string_view value) {
    sqlite3_result_text64(context_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  // SQLite copies the bytes.
  void blob(std::string_view value) {
    sqlite3_result_blob64(context_, value.data(), value.size(), SQLITE_TRANSIENT);
  }
  // Transfers ownership of `bytes` to SQLite, which calls `free` on them.
  void blob(std::uint8_t* bytes, std::uint64_t size, void (*free)(void*)) {
    sqlite3_result_blob64(context_, bytes, size, free);
  }
  // Sets a pointer value as the result. SQLite calls `drop` when it discards the value. Requires:
  // `type` is a string literal.
  void pointer(void* pointer, const char* type, void (*drop)(void*)) {
    sqlite3_result_pointer(context_, pointer, type, drop);
  }

  // Reports a failure as an error of the SQL function `function`.
  void failure(const char* function, const Failure& failure) {
    if (failure.code == SQLITE_NOMEM) {
      sqlite3_result_error_nomem(context_);
      return;
    }
    char* text = sqlite3_mprintf("%s: %s", function, failure.text);
    if (text == nullptr) {
      sqlite3_result_error_nomem(context_);
      return;
    }
    sqlite3_result_error(context_, text, -1);
    sqlite3_result_error_code(context_, failure.code);
    sqlite3_free(text);
  }

  // Returns an interrupt check for long loops. It is valid while this object lives.
  InterruptCheck check() {
    interrupts_ = Interrupts(sqlite3_context_db_handle(context_));
    return interrupts_.check();
  }

  // Returns the maximum size in bytes of a string or blob on this connection (SQLITE_LIMIT_LENGTH).
  std::uint64_t longest_value() const {
    return static_cast<std::uint64_t>(
        sqlite3_limit(sqlite3_context_db_handle(context_), SQLITE_LIMIT_LENGTH, -1));
  }

 private:
  sqlite3_context* context_;
  Interrupts interrupts_{nullptr};
};

}  // namespace bloom::sqlite
