#!/usr/bin/env bash
# Writes the amalgamation, builds it with the commands that docs/embedding.md shows, also into a program,
# and tests what was built. Installs missing packages without prompting, and ends with
# "N passed, N failed".
#   tests/release/amalgamation.sh        by g++; SQL scripts and documents; a look by clang++ with libc++
#   tests/release/amalgamation.sh all    by g++ and clang++; with the file of g++ also the Python tests
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/support/setup.sh
source tests/support/check.sh

folder=$PWD/build/amalgamation
version=$(sed -n 's/^project(sqlite-bloom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# Tests that do not use the extension; and long ones, which concern the machine or the stored bytes. The
# other tests compare stored bytes as well.
omitted='^[A-Z]|^(core|sql)_tests|^(kernel|bench|faults)[.]|^example[.](core|experiments|jobs)$|^(determinism|proxy_ring)$|^(links|site_pages|layering|prose|spelling|amalgamation|binary)$'

writes_the_same_twice() {
  ext/packages/amalgamation.py "$folder/again" &&
    cmp "$folder/bloom.cc" "$folder/again/bloom.cc" &&
    cmp "$folder/bloom.h" "$folder/again/bloom.h"
}

# build COMPILER
build() {
  mkdir -p "$folder/$1" &&
    "$1" -std=c++20 -O2 -fPIC -shared -Wall -Wextra -Werror -Wl,-z,nodelete "$folder/bloom.cc" -o "$folder/$1/bloom.so"
}

# Templates of the standard library are exported too, as weak symbols or, by g++, as unique ones, also
# those of our enumerations and pointers: g++ hides a template only because of a class.
exports_entry_points() {
  diff <(printf '%s\n' sqlite3_bloom_init sqlite3_modbloom_init) \
    <(nm -D --defined-only "$folder/$1/bloom.so" | awk '$2 !~ /[WVu]/ { print $3 }' | sort) &&
    ! nm -DC --defined-only "$folder/$1/bloom.so" | sed 's/(.*//' | grep ' bloom::'
}

# A build tree of its own, with the file in place of the extension that the tree would build. Nothing in
# it is compiled: the tests below need only that file.
configure() {
  cmake -S . -B "$folder/$1/tree" -DCMAKE_BUILD_TYPE=Release -DBLOOM_TESTED_EXTENSION="$folder/$1/bloom.so"
}

# The packages for musl and macOS have another C++ library than g++.
is_right_with_libcxx() {
  clang++ -std=c++20 -stdlib=libc++ -fsyntax-only -Wall -Wextra -Werror "$folder/bloom.cc"
}

# run_tests COMPILER TESTS
run_tests() {
  (cd "$folder/$1/tree" && ctest -j "$(getconf _NPROCESSORS_ONLN)" -R "$2" -E "$omitted" --timeout 900 --output-on-failure)
}

# SQLITE_CORE: the program calls SQLite directly. Without RTTI, which Android's ndk-build leaves out, and
# without optimization, to save time.
builds_into_a_program() {
  g++ -std=c++20 -O0 -fno-rtti -DSQLITE_CORE -c "$folder/bloom.cc" -o "$folder/bloom.o" &&
    sed 's/<sqlite_bloom.h>/"bloom.h"/' examples/embed/embed.c > "$folder/embed.c" &&
    gcc -c "$folder/embed.c" -o "$folder/embed.o" &&
    g++ "$folder/embed.o" "$folder/bloom.o" -lsqlite3 -o "$folder/embed" &&
    [ "$("$folder/embed" "SELECT bloom_version(), bloom_contains(bloom_build('a'), 'a')")" = "$version|1" ]
}

main() {
  local compiler compilers=(g++)
  [ "${1:-}" != all ] || compilers=(g++ clang++)
  install_missing g++ clang libc++-dev libc++abi-dev cmake make sqlite3 libsqlite3-dev libgtest-dev python3 binutils
  mkdir -p "$folder"
  check "written" ext/packages/amalgamation.py "$folder"
  check "two runs write the same bytes" writes_the_same_twice
  for compiler in "${compilers[@]}"; do
    check "$compiler: builds without a warning" build "$compiler"
    check "$compiler: exports only the entry points" exports_entry_points "$compiler"
    check "$compiler: a build tree for the tests" configure "$compiler"
    check "$compiler: SQL scripts and documents" run_tests "$compiler" '^(sql[.]|example[.](pre|space|summ)|README|docs/)'
  done
  if [ "${1:-}" = all ]; then
    check "the entry point's test" cmake --build "$folder/g++/tree" --target entry_point_test
    check "g++: the other tests of the extension" run_tests g++ .
  fi
  check "right with the C++ library of clang" is_right_with_libcxx
  check "built into a program" builds_into_a_program
  conclude
}

main "$@"
