#!/usr/bin/env bash
# Builds the page: SQLite with the extension compiled in, as WebAssembly, in one HTML file that needs
# no other. Installs what is missing, fetches SQLite's source, asks nothing. docs/playground.md.
#   examples/playground/build.sh     gives build/playground/index.html
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source ext/packages/wasm/compile.sh

here=examples/playground
build=$PWD/build/playground

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
  # shellcheck disable=SC2046 # names of packages hold no blanks
  install_missing python3 $(wasm_tools)
  wasm_objects "$build"
  link_engine
  python3 -B "$here/assemble.py" "$build/engine.js" "$build/engine.wasm" > "$build/index.html.new"
  mv "$build/index.html.new" "$build/index.html"
  echo "$build/index.html: $(wc -c < "$build/index.html") bytes"
}

main
