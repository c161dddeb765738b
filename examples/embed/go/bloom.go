package main

// The extension, built from bloom.cc beside this file. SQLite itself is linked by go-sqlite3, so its
// functions may be missing while cgo checks this file alone.

/*
#cgo CXXFLAGS: -std=c++20 -O2 -DSQLITE_CORE
#cgo libsqlite3 LDFLAGS: -lsqlite3
#cgo !libsqlite3 LDFLAGS: -Wl,--unresolved-symbols=ignore-all
#include <sqlite3.h>
#include "bloom.h"

static int add_to_new_connections(void) {
	return sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
}
*/
import "C"

// Every connection that is opened from now on has the extension.
func init() {
	if code := C.add_to_new_connections(); code != C.SQLITE_OK {
		panic("sqlite3_auto_extension failed")
	}
}
