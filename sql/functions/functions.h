// The SQL functions, by purpose. Each add_... function registers the functions of one purpose on a
// connection. Throws SqliteError if SQLite refuses a function.
#pragma once

#include "sql/sqlite/api.h"

namespace bloom {

void add_filter_functions(sqlite3* db);    // bloom_create, bloom_add, bloom_union ...
void add_contains_functions(sqlite3* db);  // bloom_contains, bloom_contains_all, ..._any
void add_inspect_functions(sqlite3* db);   // bloom_info, bloom_count, bloom_check ...
void add_formula_functions(sqlite3* db);   // bloom_bits, bloom_rate ...
void add_aggregates(sqlite3* db);          // bloom_build, bloom_union, bloom_intersect
void add_table_functions(sqlite3* db);     // bloom_plan, bloom_positions, bloom_stats
void add_version_function(sqlite3* db);    // bloom_version

}  // namespace bloom
