// SQLite's interface as an extension sees it: through the table of functions that the host hands to
// the entry point, which ext/ defines.
#pragma once

extern "C" {
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
}
