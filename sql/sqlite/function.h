// Registers SQL functions on a connection (sqlite3_create_function_v2). There are three kinds:
// - A scalar function without state is a C++ function. A ScalarFunction describes it.
// - A scalar function with state between calls is a class with call(). Every connection has one
//   object of the class.
// - An aggregate function is a class with step() and finish(). Every group has one object of the
//   class.
// All of them may throw: the statement then fails with "<name>: <what>".
#pragma once

#include <concepts>
#include <memory>
#include <span>

#include "sql/sqlite/api.h"
#include "sql/sqlite/context.h"
#include "sql/sqlite/guard.h"
#include "sql/sqlite/value.h"

namespace bloom::sqlite {

template <typename Function>
concept StatefulFunction = std::default_initializable<Function> &&
    requires(Function function, Context& context, const Values& arguments) {
  function.call(context, arguments);
};

template <typename State>
concept Aggregate = std::default_initializable<State> &&
    requires(State state, Context& context, const Values& arguments) {
  state.step(context, arguments);  // called for each row of the group
  state.finish(context);           // sets the result; called on a new object if there are no rows
};

inline constexpr int kAnyNumber = -1;  // of arguments

// The flags of a function whose result depends on the arguments alone, and that has no side
// effects. SQLite then allows the function in indexes, CHECK constraints and generated columns. It
// also allows the function in the views and triggers of an untrusted schema.
inline constexpr int kPure = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
// The flags of a function without side effects whose result differs between calls.
inline constexpr int kInnocuous = SQLITE_UTF8 | SQLITE_INNOCUOUS;
// The flags of a function that the extension itself calls. No schema may call it.
inline constexpr int kInternal = SQLITE_UTF8 | SQLITE_DIRECTONLY;

struct ScalarFunction {
  const char* name;
  void (*body)(Context&, const Values&);
  int argument_count;
  int flags = kPure;
};

// The name and the number of arguments of a function that is a class.
struct Signature {
  const char* name;
  int argument_count;
};

// Runs body(). Reports an exception as an error of `function`. Returns whether body() succeeded.
template <typename Body>
bool guard_function(Context& context, const char* function, Body&& body) noexcept {
  bool succeeded = true;
  guard(body, [&](const Failure& failure) {
    succeeded = false;
    context.result_error(function, failure);
  });
  return succeeded;
}

// The add_... functions throw SqliteError if SQLite refuses the function. Require: the description
// of the function outlives the connection.

// What SQLite calls. Requires: the user data is a ScalarFunction.
inline void call_function(sqlite3_context* raw, int count, sqlite3_value** values) {
  const auto& self = *static_cast<const ScalarFunction*>(sqlite3_user_data(raw));
  Context context(raw);
  guard_function(context, self.name, [&] { self.body(context, Values(count, values)); });
}

inline void add_function(sqlite3* db, const ScalarFunction& function) {
  require_ok(db, sqlite3_create_function_v2(db, function.name, function.argument_count,
                                            function.flags, const_cast<ScalarFunction*>(&function),
                                            call_function, nullptr, nullptr, nullptr));
}

inline void add_functions(sqlite3* db, std::span<const ScalarFunction> functions) {
  for (const ScalarFunction& function : functions) {
    add_function(db, function);
  }
}

template <StatefulFunction Function>
void add_function(sqlite3* db, const Signature& signature) {
  struct Object {
    const Signature& signature;
    Function function;
  };
  const auto call = [](sqlite3_context* raw, int count, sqlite3_value** values) {
    auto& self = *static_cast<Object*>(sqlite3_user_data(raw));
    Context context(raw);
    guard_function(context, self.signature.name,
                   [&] { self.function.call(context, Values(count, values)); });
  };
  const auto drop = [](void* object) { delete static_cast<Object*>(object); };
  // SQLite takes ownership of the object: it calls `drop` also if the registration fails.
  require_ok(db,
             sqlite3_create_function_v2(db, signature.name, signature.argument_count, kPure,
                                        new Object{signature, {}}, call, nullptr, nullptr, drop));
}

// The callbacks of an aggregate. Their user data is the Signature.
template <Aggregate State>
class AggregateCallbacks {
 public:
  static void step(sqlite3_context* raw, int count, sqlite3_value** values) {
    auto* group = static_cast<Group*>(sqlite3_aggregate_context(raw, sizeof(Group)));
    if (group == nullptr) {
      sqlite3_result_error_nomem(raw);
      return;
    }
    Context context(raw);
    const bool succeeded = guard_function(context, name_of(raw), [&] {
      if (group->state == nullptr) {
        group->state = new State;
      }
      group->state->step(context, Values(count, values));
    });
    group->failed |= !succeeded;
  }

  // SQLite calls this once per group, also after an error. Without rows there is no Group.
  static void finish(sqlite3_context* raw) {
    auto* group = static_cast<Group*>(sqlite3_aggregate_context(raw, 0));
    std::unique_ptr<State> state(group == nullptr ? nullptr : group->state);
    if (group != nullptr && group->failed) {
      return;
    }
    Context context(raw);
    guard_function(context, name_of(raw), [&] {
      if (state == nullptr) {
        state = std::make_unique<State>();
      }
      state->finish(context);
    });
  }

 private:
  // SQLite allocates one per group, filled with zeros.
  struct Group {
    State* state;
    bool failed;
  };

  static const char* name_of(sqlite3_context* raw) {
    return static_cast<const Signature*>(sqlite3_user_data(raw))->name;
  }
};

template <Aggregate State>
void add_aggregate(sqlite3* db, const Signature& signature, int flags = kPure) {
  using Callbacks = AggregateCallbacks<State>;
  require_ok(db, sqlite3_create_function_v2(db, signature.name, signature.argument_count, flags,
                                            const_cast<Signature*>(&signature), nullptr,
                                            Callbacks::step, Callbacks::finish, nullptr));
}

}  // namespace bloom::sqlite
