// Converts exceptions to SQLite result codes. SQLite is written in C, so no exception may reach it.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "core/support/error.h"
#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// A failure as a callback reports it to SQLite.
struct Failure {
  int code;          // SQLITE_ERROR, SQLITE_CORRUPT_VTAB, ...
  const char* text;  // null: SQLite uses its own text for the code
};

// Returns "<name>: <text>" in memory from sqlite3_malloc(), as SQLite requires for error messages.
// Returns null if there is no text or no memory.
inline char* error_message(const char* name, const Failure& failure) {
  return failure.text == nullptr ? nullptr : sqlite3_mprintf("%s: %s", name, failure.text);
}

// A call of SQLite has failed with this result code, or our callback shall fail with it.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// Throws SqliteError with the last error message of the connection unless `code` is SQLITE_OK.
inline void require_ok(sqlite3* db, int code) {
  if (code != SQLITE_OK) {
    throw SqliteError(code, sqlite3_errmsg(db));
  }
}

// Returns the SQLite result code for an error of core/. A damaged filter is not SQLITE_CORRUPT: in
// a transaction SQLite would then refuse all further writes and the COMMIT.
constexpr int code_of(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::damaged:
      return SQLITE_CORRUPT_VTAB;
    case Error::Kind::too_big:
      return SQLITE_TOOBIG;
    case Error::Kind::invalid:
      break;
  }
  return SQLITE_ERROR;
}

// Runs body(). If it throws, calls failed(const Failure&), which must not throw.
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

// Runs a function now, and throws its error later, as SqliteError or std::bad_alloc: an exception
// must not pass through SQLite. std::exception_ptr would need a newer C++ library.
class Outcome {
 public:
  template <typename Body>
  static Outcome of(Body&& body) noexcept {
    Outcome outcome;
    guard(body, [&](const Failure& failure) {
      outcome.code_ = failure.code;
      outcome.text_.reset(failure.text == nullptr ? nullptr : sqlite3_mprintf("%s", failure.text));
    });
    return outcome;
  }

  bool failed() const { return code_ != SQLITE_OK; }
  int code() const { return code_; }
  // Throws SqliteError or std::bad_alloc if the function has failed.
  void throw_failure() const {
    if (failed() && (code_ == SQLITE_NOMEM || text_ == nullptr)) {
      throw std::bad_alloc();
    }
    if (failed()) {
      throw SqliteError(code_, text_.get());
    }
  }

 private:
  struct Free {
    void operator()(char* text) const { sqlite3_free(text); }
  };
  int code_ = SQLITE_OK;
  std::unique_ptr<char, Free> text_;
};

// Runs body(). Returns SQLITE_OK if it returns. If it throws, returns the result code for the
// exception and sets *message to what error_message() returns. For xCreate, xConnect and the entry
// point of an extension.
template <typename Body>
int guard_with_message(const char* name, char** message, Body&& body) noexcept {
  int code = SQLITE_OK;
  guard(body, [&](const Failure& failure) {
    code = failure.code;
    *message = error_message(name, failure);
  });
  return code;
}

// Sets "<name>: <text>" as the error message of a table. Returns the result code that the callback
// must return.
inline int report_error(sqlite3_vtab* table, const char* name, const Failure& failure) {
  sqlite3_free(table->zErrMsg);
  table->zErrMsg = error_message(name, failure);
  return failure.text != nullptr && table->zErrMsg == nullptr ? SQLITE_NOMEM : failure.code;
}

}  // namespace bloom::sqlite
