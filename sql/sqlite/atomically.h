// Runs several changes as one: SQLite undoes all of them if one fails.
#pragma once

#include <functional>
#include <string>

#include "sql/sqlite/api.h"

namespace bloom::sqlite {

// Runs body(). If it throws, throws the same, or an SqliteError of the same code and text. What
// body() has written is then undone: at once, or, in autocommit mode, when the user's statement
// fails. The rest of the user's transaction stays. Requires: a statement on the virtual table is
// running, and fails if this throws.
//
// `config`: the qualified name of a table of two columns, one of which is the primary key.
//
// In a transaction a statement that changes one row has no savepoint of its own, and SQLite refuses
// SAVEPOINT while a statement runs. So body() is called by an SQL function within
//   INSERT INTO <config> SELECT ... WHERE <function>
// That statement could write several rows and fail after the first. So SQLite opens a savepoint for
// it, and reports it to the virtual tables of the transaction.
void atomically(sqlite3* db, const std::string& config, const std::function<void()>& body);

// Registers that SQL function. Throws SqliteError if SQLite refuses it.
void add_atomic_function(sqlite3* db);

}  // namespace bloom::sqlite
