// The SQLite API for a loadable extension. Calls go through the table of function pointers that the
// host passes to the entry point. ext/bloom.cc defines the pointer to that table.
#pragma once

extern "C" {
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
}
