// Linked into a library that contains SQLite, for example better-sqlite3: when the library is
// loaded, every connection that it opens from then on gets the extension.
#include <sqlite3.h>

#include "bloom.h"

namespace {
[[maybe_unused]] const int kRegistered =
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(sqlite3_bloom_init));
}  // namespace
