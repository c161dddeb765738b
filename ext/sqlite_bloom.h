/* For C and C++ programs that link the extension instead of loading it. Link with SQLite, a C++
 * runtime, and libsqlite_bloom.a or the object of bloom.cc: see docs/embedding.md. Before you open
 * the first connection, call:
 *
 *     sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
 *
 * Every new connection then has the functions and the virtual table modules. */
#ifndef SQLITE_BLOOM_H
#define SQLITE_BLOOM_H

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_api_routines;

/* Adds the extension to one connection. Does nothing if the connection already has it. Returns an
 * SQLite result code. If it is not SQLITE_OK, sets *error to a message to be freed with
 * sqlite3_free(), or to null if memory runs out.
 *
 * Requires: `api` is the table of functions that SQLite passes to an extension, never null. So do
 * not call this function directly, but register it with sqlite3_auto_extension(). SQLite must be
 * built without SQLITE_OMIT_LOAD_EXTENSION.
 *
 * If the extension is compiled with SQLITE_CORE defined, it calls SQLite directly, as in
 * examples/playground. Then `api` may be null (in every call, or in none), and SQLite may be built
 * with SQLITE_OMIT_LOAD_EXTENSION. */
int sqlite3_bloom_init(struct sqlite3* db, char** error, const struct sqlite3_api_routines* api);

#ifdef __cplusplus
}
#endif

#endif
