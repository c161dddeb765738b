#!/usr/bin/env bash
# Builds the page: SQLite with the extension compiled in, as WebAssembly, in one HTML file that needs
# no other. Installs what is missing, fetches SQLite's source, asks nothing. docs/playground.md.
#   examples/playground/build.sh     gives build/playground/index.html
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/sqlite_source.sh

here=examples/playground
build=$PWD/build/playground
sqlite_version=3.54.1
jobs=$(getconf _NPROCESSORS_ONLN)

# Debian's emscripten comes with its libraries built, and refuses a cache elsewhere. NODE_PATH: its
# optimizer needs Debian's acorn, where other builds of node do not look.
unset EM_CACHE
export NODE_PATH=/usr/share/nodejs

compile_sqlite() {
  sqlite_source "$sqlite_version" "$build/sqlite"
  [ "$build/sqlite3.o" -nt "$build/sqlite/sqlite3.c" ] || emcc -O2 -w -c -o "$build/sqlite3.o" \
    -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_TEMP_STORE=3 "$build/sqlite/sqlite3.c"
}

# SQLITE_CORE: the extension calls SQLite itself, not through the table that a loaded one is handed.
compile_extension() {
  emcmake cmake -S . -B "$build/wasm" -Wno-dev -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTS=OFF \
    -DCMAKE_CXX_FLAGS="-fexceptions -DSQLITE_CORE" -DSQLITE3_INCLUDE_DIR="$build/sqlite"
  cmake --build "$build/wasm" --target sqlite_bloom -j "$jobs"
}

# engine.js and engine.wasm.
link_engine() {
  local functions=_malloc,_free,_sqlite3_prepare_v2,_sqlite3_finalize,_sqlite3_step,_sqlite3_errmsg
  functions+=,_sqlite3_changes,_sqlite3_bind_text,_sqlite3_bind_blob,_sqlite3_bind_double
  functions+=,_sqlite3_column_count,_sqlite3_column_name,_sqlite3_column_type,_sqlite3_column_double
  functions+=,_sqlite3_column_bytes,_sqlite3_column_text,_sqlite3_column_blob,_sqlite3_stmt_readonly
  emcc -O2 -Wall -Wextra -I. -I"$build/sqlite" -c -o "$build/engine.o" "$here/engine.c"
  em++ -O2 -fexceptions -o "$build/engine.js" "$build"/{engine,sqlite3}.o "$build/wasm/libsqlite_bloom.a" \
    -s MODULARIZE=1 -s EXPORT_NAME=createEngine -s ENVIRONMENT=worker -s DYNAMIC_EXECUTION=0 \
    -s ALLOW_MEMORY_GROWTH=1 -s EXPORTED_FUNCTIONS="$functions"
}

main() {
  install_missing emscripten cmake make python3
  command -v npm > /dev/null || install_missing npm
  mkdir -p "$build"
  compile_sqlite
  compile_extension
  link_engine
  python3 -B "$here/assemble.py" "$build/engine.js" "$build/engine.wasm" > "$build/index.html.new"
  mv "$build/index.html.new" "$build/index.html"
  echo "$build/index.html: $(wc -c < "$build/index.html") bytes"
}

main
