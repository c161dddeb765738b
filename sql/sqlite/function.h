// Registers SQL functions. A scalar function is a C++ function. If it keeps state between calls, it
// is a class instead, and every connection has one object of it:
//   struct Next {
//     void call(Context&, const Values&);
//   };
// An aggregate function is a class:
//   struct Sum {
//     void step(Context&, const Values&);  // one row
//     void finish(Context&);               // the result; on a new object if there were no rows
//   };
// All of them may throw: the statement then fails with "<name>: <what>".
#pragma once

#include <memory>
#include <new>

#include "sql/sqlite/api.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

inline constexpr int kAnyNumber = -1;

// The result depends on the arguments alone, and there are no side effects. SQLite then allows the
// function in indexes, CHECK constraints and generated columns. It also allows the function in the
// views and triggers of an untrusted schema.
inline constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
inline constexpr int kInnocuous = SQLITE_UTF8 | SQLITE_INNOCUOUS;

// Runs body(). Reports an exception as an error of `function`. Returns whether body() succeeded.
template <typename Body>
bool run(Context& context, const char* function, Body&& body) {
  bool done = true;
  guard(body, [&](const Failure& failure) {
    done = false;
    context.failure(function, failure);
  });
  return done;
}

struct Scalar {
  const char* name;
  void (*body)(Context&, const Values&);
  int arguments;
  int flags = kPure;
};

// Returns an SQLite result code. Requires: `function` outlives the connection.
inline int add_function(sqlite3* db, const Scalar& function) {
  const auto call = [](sqlite3_context* raw, int count, sqlite3_value** values) {
    const auto& self = *static_cast<const Scalar*>(sqlite3_user_data(raw));
    Context context(raw);
    run(context, self.name, [&] { self.body(context, Values(count, values)); });
  };
  return sqlite3_create_function_v2(db, function.name, function.arguments, function.flags,
                                    const_cast<Scalar*>(&function), call, nullptr, nullptr,
                                    nullptr);
}

// The signature of a function that is a class.
struct Signature {
  const char* name;
  int arguments;
};

template <typename Function>
int add_function(sqlite3* db, const Signature& signature) {
  struct Object {
    const Signature& signature;
    Function function;
  };
  const auto call = [](sqlite3_context* raw, int count, sqlite3_value** values) {
    auto& self = *static_cast<Object*>(sqlite3_user_data(raw));
    Context context(raw);
    run(context, self.signature.name, [&] { self.function.call(context, Values(count, values)); });
  };
  const auto drop = [](void* object) { delete static_cast<Object*>(object); };
  auto* object = new (std::nothrow) Object{signature, {}};
  if (object == nullptr) {
    return SQLITE_NOMEM;
  }
  // If the registration fails, SQLite calls `drop` as well.
  return sqlite3_create_function_v2(db, signature.name, signature.arguments, kPure, object, call,
                                    nullptr, nullptr, drop);
}

// The callbacks of an aggregate. Their user data is the Signature.
template <typename State>
class AggregateCalls {
 public:
  static void step(sqlite3_context* raw, int count, sqlite3_value** values) {
    auto* slot = static_cast<Slot*>(sqlite3_aggregate_context(raw, sizeof(Slot)));
    if (slot == nullptr) {
      sqlite3_result_error_nomem(raw);
      return;
    }
    Context context(raw);
    const bool done = run(context, name_of(raw), [&] {
      if (slot->state == nullptr) {
        slot->state = new State;
      }
      slot->state->step(context, Values(count, values));
    });
    slot->failed |= !done;
  }

  // SQLite calls this once per group, also after an error.
  static void finish(sqlite3_context* raw) {
    auto* slot = static_cast<Slot*>(sqlite3_aggregate_context(raw, 0));
    std::unique_ptr<State> state(slot == nullptr ? nullptr : slot->state);
    if (slot != nullptr && slot->failed) {
      return;
    }
    Context context(raw);
    run(context, name_of(raw), [&] {
      if (state == nullptr) {
        state = std::make_unique<State>();
      }
      state->finish(context);
    });
  }

 private:
  // SQLite allocates one per group, filled with zeros.
  struct Slot {
    State* state;
    bool failed;
  };

  static const char* name_of(sqlite3_context* raw) {
    return static_cast<const Signature*>(sqlite3_user_data(raw))->name;
  }
};

template <typename State>
int add_aggregate(sqlite3* db, const Signature& signature) {
  return sqlite3_create_function_v2(
      db, signature.name, signature.arguments, kPure, const_cast<Signature*>(&signature), nullptr,
      AggregateCalls<State>::step, AggregateCalls<State>::finish, nullptr);
}

}  // namespace bloom::sqlite
