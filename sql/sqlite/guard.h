// Converts exceptions to SQLite result codes. SQLite is written in C, so no exception may reach it.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "core/support/error.h"
#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// A failure as it is reported to SQLite.
struct Failure {
  int code;          // SQLITE_ERROR, SQLITE_CORRUPT, ...
  const char* text;  // null: SQLite uses its own text for the code
};

// A call of SQLite has failed with this result code, or our callback shall fail with it.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

constexpr int code_of(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::damaged:
      return SQLITE_CORRUPT;
    case Error::Kind::too_big:
      return SQLITE_TOOBIG;
    case Error::Kind::invalid:
      break;
  }
  return SQLITE_ERROR;
}

// Runs body(). If it throws, calls failed(const Failure&).
template <typename Body, typename Failed>
void guard(Body&& body, Failed&& failed) noexcept {
  try {
    body();
  } catch (const Error& error) {
    failed(Failure{code_of(error.kind()), error.what()});
  } catch (const SqliteError& error) {
    failed(Failure{error.code(), error.what()});
  } catch (const std::bad_alloc&) {
    failed(Failure{SQLITE_NOMEM, nullptr});
  } catch (const std::exception& error) {
    failed(Failure{SQLITE_ERROR, error.what()});
  }
}

}  // namespace bloom::sqlite
