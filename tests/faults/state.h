// What a database means, as text that can be compared before and after a fault.
#pragma once

#include <string>
#include <vector>

#include "tests/support/database.h"

namespace bloom::faults {

using test::Database;
using test::Outcome;

// Runs a step of a scenario: a statement, or kLoad followed by the name of an extension.
Outcome run_step(Database& db, const std::string& step);

// The schema; the rows of every ordinary table except shadow tables; and for every bloom table its
// info and which of the keys of scenario.h it contains, or its error; for every bloom_groups table
// its members, and the candidates of each key.
std::string state_of(Database& db);

// Whether a bloom table in this state returns an error.
bool has_error(const std::string& state);

// The names of all tables that have rows in the database file, shadow tables included.
std::vector<std::string> stored_tables(Database& db);

// Empty, or the damage that SQLite or a bloom table has found.
std::string damage_of(Database& db);

}  // namespace bloom::faults
