# shellcheck shell=bash
# What the tests on other processors and systems share; to be sourced, from the root, after check.sh,
# extension.sh, shell.sh and sqlite_source.sh. A machine is a folder with `run`, a shell that runs its
# programs here, and the extension, bloom.so or bloom.dll.
#   sqlite                             folder with the source of the SQLite of all machines: a database
#                                      file contains the version that wrote it
#   build_shell FOLDER CC CXX [OPTION...]
#                                      FOLDER/shell, by these compilers, which can have arguments; OPTION
#                                      for linking
#   compile_shell FOLDER CC CXX        FOLDER/shell.o and FOLDER/sqlite3.o
#   build_here FOLDER                  this machine, with the release build
#   make_runner FOLDER COMMAND...      FOLDER/run: FOLDER/shell, started by COMMAND
#   exchange HERE THERE                each machine reads and changes a database that the other one made;
#                                      the files must stay the same byte for byte
sqlite_version=3.54.1
sqlite=$PWD/build/versions/$sqlite_version

build_shell() {
  local folder=$1 cc=$2 cxx=$3
  shift 3
  compile_shell "$folder" "$cc" "$cxx" && $cxx "$folder/shell.o" "$folder/sqlite3.o" -o "$folder/shell" "$@"
}

compile_shell() {
  # shellcheck disable=SC2154 # of sqlite_source.sh
  $2 -O1 -w "${sqlite_options[@]}" -c -o "$1/sqlite3.o" "$sqlite/sqlite3.c" &&
    $3 -std=c++20 -O1 -I "$sqlite" -c -o "$1/shell.o" tests/support/shell.cc
}

# Unsets LD_PRELOAD: stdbuf sets it to a library that only this machine can load. MinGW appends .exe
# to the name of a program.
make_runner() {
  local folder=$1 shell=$1/shell
  shift
  [ ! -e "$shell.exe" ] || shell=$shell.exe
  printf '#!/bin/sh\nexec env -u LD_PRELOAD %s %s "$@"\n' "$*" "$shell" > "$folder/run" &&
    chmod +x "$folder/run"
}

build_here() {
  mkdir -p "$1" &&
    build_release bloom &&
    cp build/release/bloom.so "$1" &&
    build_shell "$1" gcc g++ -lm -lpthread -ldl &&
    make_runner "$1"
}

# exchange_step FOLDER SCRIPT DATABASE: runs tests/environments/machines/SCRIPT.sql, which holds its
# expected output.
exchange_step() {
  local script=tests/environments/machines/$2.sql
  diff -u "$script" <(SQLITE3=$1/run run_script "$1/bloom" "$3" < "$script")
}

exchange() {
  local here=$2/here.db there=$2/there.db
  rm -f "$here" "$there"
  exchange_step "$1" write "$here" && exchange_step "$2" write "$there" && cmp "$here" "$there" &&
    exchange_step "$2" change "$here" && exchange_step "$1" change "$there" && cmp "$here" "$there"
}
