/* The whole extension, linked into a program instead of loaded: for C and C++. Link with
 * libsqlite_bloom.a, a C++ runtime and SQLite; docs/packages.md says how. Before the first
 * connection is opened:
 *
 *     sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
 *
 * Every connection then has the functions and the module. */
#ifndef SQLITE_BLOOM_H
#define SQLITE_BLOOM_H

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_api_routines;

/* Adds the extension to one connection; does nothing where that was done before. `api` is what
 * SQLite hands to an extension, never a null pointer: a program does not call this but through
 * sqlite3_auto_extension(), in an SQLite that was built with extensions (not with
 * SQLITE_OMIT_LOAD_EXTENSION, unless this library is compiled with SQLITE_CORE defined: it then
 * calls SQLite directly, as examples/playground does). Returns an SQLite result code; `error`, to
 * be freed with sqlite3_free(), says why it is not SQLITE_OK. */
int sqlite3_bloom_init(struct sqlite3* db, char** error, const struct sqlite3_api_routines* api);

#ifdef __cplusplus
}
#endif

#endif
