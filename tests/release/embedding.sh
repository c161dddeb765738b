#!/usr/bin/env bash
# Runs the commands of docs/embedding.md, which build the extension into programs in Go, Rust and Node, and
# compares what the programs print with what the page says. Then builds the programs for Go and Rust with
# an SQLite of their own that cannot load extensions. Works in build/embed-*, installs missing packages
# without prompting, and ends with "N passed, N failed".
#   tests/release/embedding.sh           all programs
#   tests/release/embedding.sh go rust   these, by the first words of their headings
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh
source tests/support/page.sh
source tests/support/sqlite_source.sh

root=$PWD
page=$root/docs/embedding.md
static=$root/build/embed-static

promised() { sed -n '/which prints:$/,/^## /p' "$page" | block text; }

# All commands but the last, which runs the program.
builds() {
  # shellcheck disable=SC2046 # names of packages hold no blanks
  require_present $(packages "$1") || return
  rm -rf "build/embed-$1"
  bash -euo pipefail -c "$(commands "$1" | sed '$d')" || {
    is_offline && echo "its packages cannot be installed (no network)" && return 77
    return 1
  }
}

# run NAME [SQL]: the last command, with this statement in place of that of the page.
run() {
  local command
  command=$(commands "$1" | tail -n 1)
  [ $# -eq 1 ] || command="${command%%\"*}$(printf '%q' "$2")"
  (cd "build/embed-$1" && bash -euo pipefail -c "$command")
}

prints_what_is_promised() { diff <(promised) <(run "$1"); }

reports_errors() {
  local output
  ! output=$(run "$1" "SELECT bloom_contains(NULL, 42)" 2>&1) &&
    grep -F "bloom_contains: argument 1 is not a bloom filter" <<< "$output"
}

# SQLite as a driver compiles it, without the code that loads files.
compiles_sqlite() {
  mkdir -p "$static/sqlite"
  sqlite_source 3.54.1 "$static/sqlite" || return
  gcc -O1 -w -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -c "$static/sqlite/sqlite3.c" \
    -o "$static/sqlite/sqlite3.o" && ar rcs "$static/sqlite/libsqlite3.a" "$static/sqlite/sqlite3.o"
}

# The driver's source as its own releases have it: with SQLite's amalgamation, and without the file by
# which Debian's package always links the system's SQLite. Without optimization, to save time.
go_with_own_sqlite() {
  local driver=$static/gopath/src/github.com/mattn/go-sqlite3
  mkdir -p "$driver"
  cp -r /usr/share/gocode/src/github.com/mattn/go-sqlite3/. "$driver"
  rm "$driver/sqlite3_libsqlite3.go"
  cp "$static/sqlite/sqlite3.h" "$driver/sqlite3-binding.h"
  cp "$static/sqlite/sqlite3ext.h" "$driver"
  { echo '#ifndef USE_LIBSQLITE3' && cat "$static/sqlite/sqlite3.c" && echo '#endif'; } > "$driver/sqlite3-binding.c"
  cp "$static/sqlite/sqlite3.h" build/embed-go
  (cd build/embed-go && GO111MODULE=off GOPATH=$static/gopath CGO_CFLAGS=-O0 go build -tags sqlite_omit_load_extension -o embed) &&
    needs_no_sqlite build/embed-go/embed && prints_what_is_promised go
}

rust_with_own_sqlite() {
  export SQLITE3_LIB_DIR=$static/sqlite SQLITE3_INCLUDE_DIR=$static/sqlite SQLITE3_STATIC=1 SQLITE3_NO_PKG_CONFIG=1
  (cd build/embed-rust && cargo build --quiet) && needs_no_sqlite build/embed-rust/target/debug/embed && prints_what_is_promised rust
}

needs_no_sqlite() { ! ldd "$1" | grep sqlite; }

main() {
  local programs=("$@") program
  [ $# -gt 0 ] || programs=(go rust node)
  use_own_caches "$root/build/embed-caches"
  install_packages "${programs[@]}" || true
  for program in "${programs[@]}"; do
    check "$program: builds" builds "$program"
    check "$program: prints what docs/embedding.md says" prints_what_is_promised "$program"
    check "$program: reports errors" reports_errors "$program"
  done
  check "SQLite that cannot load extensions" compiles_sqlite
  for program in "${programs[@]}"; do
    case $program in
      go | rust) check "$program: with an SQLite of its own" "${program}_with_own_sqlite" ;;
    esac
  done
  conclude
}

main "$@"
