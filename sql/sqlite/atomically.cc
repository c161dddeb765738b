#include "sql/sqlite/atomically.h"

#include <optional>
#include <stdexcept>

#include "sql/sqlite/connection.h"
#include "sql/sqlite/function.h"
#include "sql/sqlite/statement.h"

namespace bloom::sqlite {
namespace {

constexpr char kBodyType[] = "bloom body";

struct Body {
  const std::function<void()>& run;
  std::optional<Outcome> outcome = {};  // once it has run
};

// bloom_run(pointer): runs the body. Returns 0, so that the INSERT inserts no row.
//
// Every exception fails the INSERT with SQLITE_ERROR. For other codes, such as SQLITE_INTERRUPT,
// SQLite would roll back the whole transaction here.
void run_body(Context& context, const Values& arguments) {
  auto* const body = static_cast<Body*>(arguments[0].pointer(kBodyType));
  if (body == nullptr) {
    fail("only the extension itself can call this function");
  }
  body->outcome = Outcome::of(body->run);
  if (body->outcome->failed()) {
    throw std::runtime_error("the command failed");
  }
  context.result_int64(0);
}

constexpr ScalarFunction kRun{"bloom_run", run_body, 1, kInternal};

}  // namespace

void atomically(sqlite3* db, const std::string& config, const std::function<void()>& body) {
  // In autocommit mode SQLite undoes everything if the only statement that writes fails.
  if (sqlite3_get_autocommit(db) != 0 && running_writers(db) <= 1) {
    return body();
  }
  const Statement insert(
      db, "INSERT INTO " + config + " SELECT 'version', 1 WHERE " + kRun.name + "(?1)");
  Body state{.run = body};
  const Outcome outcome =
      Outcome::of([&] { Execution(insert).bind_pointer(1, &state, kBodyType).step(); });
  if (state.outcome) {
    state.outcome->throw_failure();
  }
  outcome.throw_failure();
  if (!state.outcome) {
    throw std::logic_error("SQLite has not run the command");
  }
}

void add_atomic_function(sqlite3* db) { add_function(db, kRun); }

}  // namespace bloom::sqlite
