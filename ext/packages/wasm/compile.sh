# shellcheck shell=bash
# Compiles SQLite and the extension to WebAssembly; to be sourced, from the root, after setup.sh:
#   wasm_tools              the Debian packages that the functions below need
#   wasm_objects FOLDER     FOLDER/sqlite3.o, FOLDER/wasm/libsqlite_bloom.a, and FOLDER/sqlite with
#                           SQLite's source; compiles only what has changed
#   wasm_compile FOLDER     FOLDER/npm/engine.js and engine.wasm, for the npm package sqlite-bloom-wasm
# shellcheck source=SCRIPTDIR/../../../tests/support/sqlite_source.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../../tests/support/sqlite_source.sh"

sqlite_in_wasm=3.54.1

wasm_tools() {
  echo emscripten cmake make
  command -v npm > /dev/null || echo npm
}

# SQLITE_CORE: the extension calls SQLite itself, not through the table that a loaded one is handed.
wasm_objects() {
  local folder=$1
  # Debian's emscripten comes with its libraries built, and refuses a cache elsewhere. Its optimizer
  # needs Debian's acorn, where other builds of node do not look.
  unset EM_CACHE
  export NODE_PATH=/usr/share/nodejs
  mkdir -p "$folder"
  sqlite_source "$sqlite_in_wasm" "$folder/sqlite"
  [ "$folder/sqlite3.o" -nt "$folder/sqlite/sqlite3.c" ] || emcc -O2 -w -c -o "$folder/sqlite3.o" \
    -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_TEMP_STORE=3 "$folder/sqlite/sqlite3.c"
  emcmake cmake -S . -B "$folder/wasm" -Wno-dev -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF \
    -DCMAKE_CXX_FLAGS="-fexceptions -DSQLITE_CORE" -DSQLITE3_INCLUDE_DIR="$folder/sqlite"
  cmake --build "$folder/wasm" --target sqlite_bloom -j "$(getconf _NPROCESSORS_ONLN)"
}

# The program runs in pages, in workers and in Node, so it does not fetch engine.wasm itself.
wasm_compile() {
  local folder=$1 functions=_malloc,_free,_sqlite3_close,_sqlite3_errmsg,_sqlite3_extended_errcode
  functions+=,_sqlite3_free,_sqlite3_prepare_v2,_sqlite3_step,_sqlite3_finalize
  functions+=,_sqlite3_bind_parameter_count,_sqlite3_bind_parameter_name
  functions+=,_sqlite3_bind_blob,_sqlite3_bind_double,_sqlite3_bind_null,_sqlite3_bind_text
  functions+=,_sqlite3_column_count,_sqlite3_column_name,_sqlite3_column_type,_sqlite3_column_double
  functions+=,_sqlite3_column_bytes,_sqlite3_column_blob,_sqlite3_column_text
  wasm_objects "$folder"
  mkdir -p "$folder/npm"
  emcc -O2 -Wall -Wextra -Werror -I. -I"$folder/sqlite" -c -o "$folder/engine.o" ext/packages/wasm/engine.c
  em++ -O2 -fexceptions -o "$folder/npm/engine.js" "$folder"/{engine,sqlite3}.o "$folder/wasm/libsqlite_bloom.a" \
    -s MODULARIZE=1 -s EXPORT_ES6=1 -s EXPORT_NAME=createEngine -s ENVIRONMENT=web,worker -s DYNAMIC_EXECUTION=0 \
    -s ALLOW_MEMORY_GROWTH=1 -s EXPORTED_FUNCTIONS="$functions"
  chmod -x "$folder/npm/engine.wasm"
}
