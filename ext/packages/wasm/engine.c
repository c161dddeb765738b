/* What sqlite-bloom-wasm needs besides SQLite and the extension: 64-bit integers by pointer,
 * because JavaScript passes only 32 bits, and databases as bytes. database.mjs calls the rest of
 * SQLite's interface itself. */
#include <emscripten.h>
#include <sqlite3.h>
#include <string.h>

#include "ext/sqlite_bloom.h"

/* Fills an empty database with the `size` bytes of a database file. Returns a result code. */
static int fill(sqlite3* db, const unsigned char* bytes, int size) {
  const unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
  unsigned char* const copy = sqlite3_malloc(size);
  if (copy == NULL) {
    return SQLITE_NOMEM;
  }
  memcpy(copy, bytes, (size_t)size);
  const int code = sqlite3_deserialize(db, "main", copy, size, size, flags);
  /* Reads the file: SQLite does not notice before that it is not a database. */
  return code != SQLITE_OK ? code : sqlite3_exec(db, "PRAGMA schema_version", NULL, NULL, NULL);
}

/* Returns a database in memory with the extension, empty or with the `size` bytes of a database
 * file. Null if there is no memory for it, or if the bytes are no database; *code says which. */
EMSCRIPTEN_KEEPALIVE sqlite3* open_database(const unsigned char* bytes, int size, int* code) {
  sqlite3* db = NULL;
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  *code = sqlite3_open(":memory:", &db);
  if (*code == SQLITE_OK && size > 0) {
    *code = fill(db, bytes, size);
  }
  if (*code != SQLITE_OK) {
    sqlite3_close(db);
    return NULL;
  }
  return db;
}

/* Returns the database file, to be freed with sqlite3_free(), and its length. Null if there is no
 * memory for it. */
EMSCRIPTEN_KEEPALIVE unsigned char* export_database(sqlite3* db, int* size) {
  sqlite3_int64 length = 0;
  unsigned char* const bytes = sqlite3_serialize(db, "main", &length, 0);
  *size = (int)length;
  return bytes;
}

EMSCRIPTEN_KEEPALIVE int bind_integer(sqlite3_stmt* statement, int index,
                                      const sqlite3_int64* value) {
  return sqlite3_bind_int64(statement, index, *value);
}

EMSCRIPTEN_KEEPALIVE void column_integer(sqlite3_stmt* statement, int column,
                                         sqlite3_int64* value) {
  *value = sqlite3_column_int64(statement, column);
}

EMSCRIPTEN_KEEPALIVE const char* text_of_code(int code) { return sqlite3_errstr(code); }
