// The context of an SQL function call (sqlite3_context): sets the result, and reads the limits of
// the connection.
#pragma once

#include <cstdint>
#include <string_view>

#include "sql/sqlite/api.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/interrupts.h"

namespace bloom::sqlite {

class Context {
 public:
  explicit Context(sqlite3_context* context) : context_(context) {}

  sqlite3* db() const { return sqlite3_context_db_handle(context_); }

  // Set the result of the call, like the functions sqlite3_result_...(). SQLite copies the text or
  // the bytes of a string_view. Without a result the call returns NULL.
  void result_null() { sqlite3_result_null(context_); }
  void result_int64(std::int64_t value) { sqlite3_result_int64(context_, value); }
  void result_bool(bool value) { sqlite3_result_int(context_, value ? 1 : 0); }
  void result_double(double value) { sqlite3_result_double(context_, value); }
  void result_text(std::string_view value) {
    sqlite3_result_text64(context_, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void result_blob(std::string_view value) {
    sqlite3_result_blob64(context_, value.data(), value.size(), SQLITE_TRANSIENT);
  }
  // Transfers ownership of `bytes` to SQLite, which calls `free` on them.
  void result_blob(std::uint8_t* bytes, std::uint64_t size, void (*free)(void*)) {
    sqlite3_result_blob64(context_, bytes, size, free);
  }
  // SQLite calls `drop` when it discards the pointer value. Requires: `type` is a string literal.
  void result_pointer(void* pointer, const char* type, void (*drop)(void*)) {
    sqlite3_result_pointer(context_, pointer, type, drop);
  }
  // Makes the call fail with "<function>: <text>".
  void result_error(const char* function, const Failure& failure) {
    char* message = failure.code == SQLITE_NOMEM ? nullptr : error_message(function, failure);
    if (message == nullptr) {
      sqlite3_result_error_nomem(context_);
      return;
    }
    sqlite3_result_error(context_, message, -1);
    sqlite3_result_error_code(context_, failure.code);
    sqlite3_free(message);
  }

  // Returns an interrupt check for long loops. It is valid while this object lives.
  InterruptCheck interrupt_check() {
    interrupts_ = Interrupts(sqlite3_context_db_handle(context_));
    return interrupts_.check();
  }

  // Returns the maximum size in bytes of a string or blob on this connection (SQLITE_LIMIT_LENGTH).
  std::uint64_t length_limit() const {
    return static_cast<std::uint64_t>(
        sqlite3_limit(sqlite3_context_db_handle(context_), SQLITE_LIMIT_LENGTH, -1));
  }

 private:
  sqlite3_context* context_;
  Interrupts interrupts_{nullptr};
};

}  // namespace bloom::sqlite
