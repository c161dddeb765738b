// The SQL functions, grouped by purpose. register.cc adds all of them to a connection. The add_...
// functions return an SQLite result code.
#pragma once

#include <span>

#include "sql/sqlite/function.h"

namespace bloom {

std::span<const sqlite::Scalar> filter_functions();   // bloom_create, bloom_add, bloom_union ...
std::span<const sqlite::Scalar> inspect_functions();  // bloom_info, bloom_count, bloom_check ...
std::span<const sqlite::Scalar> formula_functions();  // bloom_bits, bloom_rate ...

extern const sqlite::Scalar kVersion;  // bloom_version

int add_contains_functions(sqlite3* db);  // bloom_contains, bloom_contains_all, ..._any
int add_aggregates(sqlite3* db);          // bloom_build, bloom_union, bloom_intersect
int add_table_functions(sqlite3* db);     // bloom_plan, bloom_positions
int add_table_module(sqlite3* db);        // CREATE VIRTUAL TABLE ... USING bloom

}  // namespace bloom
