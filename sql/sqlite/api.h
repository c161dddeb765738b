// The SQLite API as a loadable extension uses it: through the table of function pointers that the
// host passes to the entry point. ext/ defines the pointer to that table.
#pragma once

extern "C" {
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
}
