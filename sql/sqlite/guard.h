// The one place where exceptions end: SQLite is C, and none may cross into it.
#pragma once

#include <exception>
#include <new>

#include "core/error.h"
#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// What SQLite is to be told.
struct Failure {
  int code;          // SQLITE_ERROR, SQLITE_CORRUPT, ...
  const char* text;  // null: SQLite's own words for the code
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

// Runs body(); tells failed(const Failure&) if it threw. Returns SQLITE_OK or the failure's code.
template <typename Body, typename Failed>
int guard(Body&& body, Failed&& failed) noexcept {
  Failure failure{SQLITE_ERROR, nullptr};
  try {
    body();
    return SQLITE_OK;
  } catch (const Error& error) {
    failure = {code_of(error.kind()), error.what()};
    failed(failure);
  } catch (const std::bad_alloc&) {
    failure = {SQLITE_NOMEM, nullptr};
    failed(failure);
  } catch (const std::exception& error) {
    failure = {SQLITE_ERROR, error.what()};
    failed(failure);
  }
  return failure.code;
}

}  // namespace bloom::sqlite
